-- Deletes those of the locks that are ours.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
--
-- Replies:
--   1  all were ours and are gone
--   0  there was none of them: expired, deleted, or released by an earlier send of this command
--  -1  at least one is somebody else's, or some were missing

local ours, missing = 0, 0
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    missing = missing + 1
  elseif kind == 'hash' and redis.call('HGET', key, 'token') == ARGV[1] then
    ours = ours + redis.call('DEL', key)
  end
end
return ours == #KEYS and 1 or missing == #KEYS and 0 or -1
