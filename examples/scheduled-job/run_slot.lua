-- Runs one slot of the schedule: claims it and records its effect, both or neither.
--
-- KEYS[1]  string: the highest fencing token accepted
-- KEYS[2]  sorted set: the slots that were run
-- KEYS[3]  list: the outbox, where the effects are
-- ARGV[1]  fencing token of the leader's term
-- ARGV[2]  number of the slot
-- ARGV[3]  effect
-- replies  "run"    the effect is recorded
--          "taken"  the slot was run before
--          "stale"  a later leader has run a slot: the caller is deposed
local highest = redis.call('GET', KEYS[1])
if highest and tonumber(highest) > tonumber(ARGV[1]) then return 'stale' end
if redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[2]) == 0 then return 'taken' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[3], ARGV[3])
return 'run'
