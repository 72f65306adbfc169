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
for _, key in ipairs(KEYS) do
  if call('TYPE', key).ok ~= 'hash' or call('HGET', key, 'token') ~= ARGV[1] then
    return -2
  end
  local ttl = call('PTTL', key)
  if ttl >= 0 and (shortest < 0 or ttl < shortest) then
    shortest = ttl
  end
end
return shortest
