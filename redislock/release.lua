-- Deletes those of the locks that are ours, and announces the release.
--
-- KEYS       the locks
-- ARGV[1]    ownership token
-- ARGV[2..]  the channels on which to announce the release; none: do not announce it
--
-- Replies:
--   1  all were ours and are deleted
--   0  none of them exists: expired, deleted, or released by an earlier send of this
--      command
--  -1  somebody else holds at least one, or some did not exist

local ours, missing = {}, 0
for i = 1, #KEYS do
  local token = redis.pcall('HGET', KEYS[i], 'token')
  if token == ARGV[1] then
    ours[#ours + 1] = KEYS[i]
  elseif type(token) == 'table' and not string.find(token.err, 'WRONGTYPE', 1, true) then
    -- Fails again and says why. Only a key of another type means "not ours".
    redis.call('HGET', KEYS[i], 'token')
  elseif redis.call('TYPE', KEYS[i]).ok == 'none' then
    missing = missing + 1
  end
end
if #ours > 0 then
  redis.call('DEL', unpack(ours))
end
local released = #ours == #KEYS

-- The announcement follows the delete, so that whoever hears it finds the lock free.
-- The listeners are spread over the channels. The announcement goes to one channel
-- after another, beginning with a random one, until enough listeners were notified:
-- with many of them, a release must neither wake all nor keep the server busy. Each
-- learns how many were notified on its channel, so that they can spread their attempts.
-- If no listener is known, because counting is denied or because they are connected to
-- another server, it goes to all channels. It is a hint: if publishing is not
-- permitted, the release succeeds all the same.
local channels = {unpack(ARGV, 2)}
if released and #channels > 0 then
  local enough, notified, first = 4, 0, string.byte(ARGV[1])
  local known = redis.pcall('PUBSUB', 'NUMSUB', unpack(channels)) -- {channel, listeners, ...}
  for i = first, first + #channels - 1 do
    local n = i % #channels + 1
    local listeners = known[2 * n] or 0
    if listeners > 0 and notified < enough then
      redis.pcall('PUBLISH', channels[n], 'released ' .. listeners)
      notified = notified + listeners
    end
  end
  if notified == 0 then
    for _, channel in ipairs(channels) do
      redis.pcall('PUBLISH', channel, 'released')
    end
  end
end
return released and 1 or missing == #KEYS and 0 or -1
