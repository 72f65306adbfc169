-- Obtains one or more locks, all or none, and mints the fencing token.
--
-- KEYS[1..n]  the locks
-- KEYS[n+1]   the fence counter, if flag f is set
-- ARGV[1]     ownership token
-- ARGV[2]     metadata
-- ARGV[3]     ttl in milliseconds
-- ARGV[4]     fence floor; a new fencing token is greater
-- ARGV[5]     flags:
--               f  mint a fencing token
--               c  make it at least the server's time in microseconds
--               >  announce the acquisition on the channel whose name follows
--
-- Replies:
--   fence                            obtained; a string of digits, or the number 0 if
--                                    there is no fencing token
--   {'held', metadata, fence, pttl}  somebody else holds one of the locks
--   {'foreign', type, pttl}          one of the keys holds something that is not a lock
--   {'counter', type, value}         the fence counter holds no number, or no number is
--                                    left below 2^53
--
-- Everything that can fail comes before the first write, because Redis does not roll a
-- script back. For the same reason the counter is written before the lock: if memory is
-- full, Redis refuses the SET and nothing has happened.

local token, metadata, ttl, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local flags = string.match(ARGV[5], '^[^>]*')
local n = string.find(flags, 'f', 1, true) and #KEYS - 1 or #KEYS
local counter = KEYS[n + 1]
local limit = 9007199254740992 -- 2^53, above which a Lua number cannot count in ones

local ours, fence = 0, '0'
for i = 1, n do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' then
    local held = kind == 'hash' and redis.call('HMGET', KEYS[i], 'token', 'metadata', 'fence') or {}
    if not held[1] then
      return {'foreign', kind, redis.call('PTTL', KEYS[i])}
    end
    if held[1] ~= token then
      return {'held', held[2] or '', held[3] or '0', redis.call('PTTL', KEYS[i])}
    end
    ours = ours + 1
    if (tonumber(held[3]) or 0) > tonumber(fence) then
      fence = held[3] -- the highest, in case the locks were obtained one by one
    end
  end
end

-- A lock that is already ours keeps its fencing token, whether this command was sent
-- twice or is a deliberate re-obtain. A new token is minted only if the floor has
-- overtaken the old one.
local continued = ours == n and (not counter or tonumber(fence) > floor)
if counter and not continued then
  local value = redis.pcall('GET', counter) or '0'
  if type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then
      redis.call('GET', counter) -- fails again and says why
    end
    return {'counter', redis.call('TYPE', counter).ok, ''}
  end
  local last = string.match(value, '^%d+$') and tonumber(value)
  if not last then
    return {'counter', 'string', string.sub(value, 1, 64)}
  end
  local next = math.max(last, floor) + 1
  if string.find(flags, 'c', 1, true) then
    local time = redis.call('TIME')
    next = math.max(next, time[1] * 1000000 + time[2])
  end
  if next >= limit then
    return {'counter', 'string', string.sub(value, 1, 64)}
  end
  fence = string.format('%.0f', next)
  redis.call('SET', counter, fence)
end

for i = 1, n do
  redis.call('HSET', KEYS[i], 'token', token, 'metadata', metadata, 'fence', fence)
  if type(redis.pcall('PEXPIRE', KEYS[i], ttl)) == 'table' then
    -- It is not permitted, and a lock must not stay forever.
    for j = 1, i do
      redis.pcall('DEL', KEYS[j])
    end
    redis.call('PEXPIRE', KEYS[i], ttl) -- fails again and says why
  end
end
local channel = string.match(ARGV[5], '>(.*)')
if channel and ours < n then
  redis.pcall('PUBLISH', channel, 'acquired') -- a hint; it may be denied
end
return fence ~= '0' and fence or 0
