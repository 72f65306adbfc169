-- Sets the time to live of one or more locks, all or none, if every one of them is
-- ours. It creates nothing and uses no command that is refused when memory is full.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
-- ARGV[2]  ttl in milliseconds
--
-- Replies:
--   1  refreshed
--   0  at least one of the locks is not ours

for i = 1, #KEYS do
  local token = redis.pcall('HGET', KEYS[i], 'token')
  if token ~= ARGV[1] then
    if type(token) == 'table' and not string.find(token.err, 'WRONGTYPE', 1, true) then
      redis.call('HGET', KEYS[i], 'token') -- fails again, and says why: an error is no answer, but for a key of another type
    end
    return 0
  end
end
for i = 1, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return 1
