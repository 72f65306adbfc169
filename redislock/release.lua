-- Deletes those of the locks that are ours.
--
-- KEYS     the locks
-- ARGV[1]  ownership token
-- ARGV[2]  flags: a announce the release, on channels of the first lock
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

-- The announcement follows the delete, so that who hears it finds the lock free. Those
-- who listen are spread over four channels; it goes to one after the other, from a
-- random one on, until enough are told, so that a release among many neither wakes them
-- all nor keeps the server busy with telling them. Each learns how many were told with
-- it, to spread their attempts. If nobody is known to listen, be it that counting is
-- denied or that they do so by way of another server, all channels are told. It is a
-- hint: where publishing is not permitted the release stands all the same.
if #ours == #KEYS and string.find(ARGV[2], 'a', 1, true) then
  local c = KEYS[1] .. ':announce:'
  local known = redis.pcall('PUBSUB', 'NUMSUB', c .. '0', c .. '1', c .. '2', c .. '3') -- {channel, listeners, channel, ...}
  local told, enough, first = 0, 4, string.byte(ARGV[1])
  for i = first, first + 3 do
    local channel, listeners = known[i % 4 * 2 + 1], known[i % 4 * 2 + 2] or 0
    if listeners > 0 and told < enough then
      redis.pcall('PUBLISH', channel, 'released ' .. listeners)
      told = told + listeners
    end
  end
  for i = 0, told == 0 and 3 or -1 do
    redis.pcall('PUBLISH', c .. i, 'released')
  end
end
return #ours == #KEYS and 1 or missing == #KEYS and 0 or -1
