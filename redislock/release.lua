-- Deletes those of the locks that are ours.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
-- ARGV[2]  flags: a announce the release, on the channel of the first lock
--
-- Replies:
--   1  all were ours and are gone
--   0  there was none of them: expired, deleted, or released by an earlier send of this command
--  -1  at least one is somebody else's, or some were missing

local ours, missing = {}, 0
for i = 1, #KEYS do
  local token = redis.pcall('HGET', KEYS[i], 'token')
  if token == ARGV[1] then
    ours[#ours + 1] = KEYS[i]
  elseif type(token) == 'table' and not string.find(token.err, 'WRONGTYPE', 1, true) then
    redis.call('HGET', KEYS[i], 'token') -- fails again, and says why: an error is no answer, but for a key of another type
  elseif redis.call('TYPE', KEYS[i]).ok == 'none' then
    missing = missing + 1
  end
end
if #ours > 0 then
  redis.call('DEL', unpack(ours))
end

-- The announcement follows the delete, so that who hears it finds the lock free. It says how many listen, for them to spread
-- their attempts. It is a hint: where publishing is not permitted the release stands all the same.
if #ours == #KEYS and string.find(ARGV[2], 'a', 1, true) then
  local channel = KEYS[1] .. ':announce'
  local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)
  redis.pcall('PUBLISH', channel, 'released ' .. (listeners[2] or 0))
end
return #ours == #KEYS and 1 or missing == #KEYS and 0 or -1
