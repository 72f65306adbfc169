-- Requests the release of a lock. The holder reads the request with its next refresh.
-- The request is part of the lock and goes with it, so it never reaches a later holder.
--
-- KEYS[1]  the lock
-- ARGV[1]  fencing token of the holder
--
-- Replies:
--   1  requested
--   0  nobody holds the lock with that fencing token

local fence = redis.pcall('HGET', KEYS[1], 'fence')
if type(fence) == 'table' and not string.find(fence.err, 'WRONGTYPE', 1, true) then
  -- Fails again and says why. Only a key of another type means "not held".
  redis.call('HGET', KEYS[1], 'fence')
end
if fence ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'resign', ARGV[1])
return 1
