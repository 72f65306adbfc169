-- Writes a number, unless a later term has written before.
--
-- KEYS[1]  string: the highest fencing token accepted
-- KEYS[2]  list: the latest writes as "token value", the newest last
-- ARGV[1]  fencing token of the leader's term
-- ARGV[2]  value
-- replies  "OK", or the highest token if it is higher than ARGV[1]
local highest = redis.call('GET', KEYS[1])
if highest and tonumber(highest) > tonumber(ARGV[1]) then return highest end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[1] .. ' ' .. ARGV[2])
redis.call('LTRIM', KEYS[2], -10000, -1)
return 'OK'
