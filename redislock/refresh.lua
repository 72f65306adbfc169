-- Sets the time to live of one or more locks, all or none, if every one of them is ours. It creates nothing and uses
-- no command that is refused when memory is full.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
-- ARGV[2]  ttl in milliseconds
--
-- Replies:
--   1  refreshed
--   0  at least one of the locks is not ours

for _, key in ipairs(KEYS) do
  if call('TYPE', key).ok ~= 'hash' or call('HGET', key, 'token') ~= ARGV[1] then
    return 0
  end
end
for _, key in ipairs(KEYS) do
  call('PEXPIRE', key, ARGV[2])
end
return 1
