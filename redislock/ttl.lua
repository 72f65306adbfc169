-- Reads the shortest time to live of one or more locks.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
--
-- Replies:
--   milliseconds  all are ours
--   -1            all are ours, none has a time to live
--   -2            at least one is not ours

local shortest = -1
for i = 1, #KEYS do
  local token = redis.pcall('HGET', KEYS[i], 'token')
  if token ~= ARGV[1] then
    if type(token) == 'table' and not string.find(token.err, 'WRONGTYPE', 1, true) then
      -- Fails again and says why. Only a key of another type means "not ours".
      redis.call('HGET', KEYS[i], 'token')
    end
    return -2
  end
  local ttl = redis.call('PTTL', KEYS[i])
  if ttl >= 0 and (shortest < 0 or ttl < shortest) then
    shortest = ttl
  end
end
return shortest
