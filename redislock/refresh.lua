-- Sets the time to live of one or more locks, all or none, if all of them are ours. It
-- creates nothing and uses no command that Redis refuses when memory is full.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
-- ARGV[2]  ttl in milliseconds
--
-- Replies:
--   2  refreshed, and somebody requests the release of one of the locks (request.lua)
--   1  refreshed
--   0  at least one of the locks is not ours

local reply = 1
for i = 1, #KEYS do
  local held = redis.pcall('HMGET', KEYS[i], 'token', 'resign')
  if held.err and not string.find(held.err, 'WRONGTYPE', 1, true) then
    -- Fails again and says why. Only a key of another type means "not ours".
    redis.call('HMGET', KEYS[i], 'token', 'resign')
  end
  if held.err or held[1] ~= ARGV[1] then
    return 0
  end
  if held[2] then
    reply = 2
  end
end
for i = 1, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return reply
