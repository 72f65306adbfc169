package leadertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/redislock"
)

// The same random sequences of operations, on a real server and on the stand-in, have to
// give the same results and leave the same keys behind.

var firstSeed = flag.Uint64("seed", 0, "seed of the first sequence of operations; 0 draws one")

const (
	sequences = 300
	steps     = 25
)

// Names of keys. Some are locks as well as counters, so that each meets the other's keys.
var (
	lockKeys    = []string{"a", "b", "c", "counter"}
	counterKeys = []string{"counter", "counter2", "c"}
	allKeys     = []string{"a", "b", "c", "counter", "counter2"}
)

// Values in which a fencing token or a counter could be found.
var numbers = []string{
	"0", "1", "7", "007", "41", "", "abc", "-5", " 7 ", "1e3", "9007199254740989", "9007199254740990",
	"9007199254740991", "9007199254740992", "99999999999999999999", strings.Repeat("9", 400), strings.Repeat("x", 100),
}

func TestConformsToRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	raw := server.Client(t)
	first := *firstSeed
	if first == 0 {
		first = rand.Uint64N(1_000_000_000)
	}
	obtained := 0
	for seed := first; seed < first+sequences && !t.Failed(); seed++ {
		if err := raw.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		memory := NewServer()
		s := &sequence{
			T: t, Rand: rand.New(rand.NewPCG(seed, 0)),
			real:  side{redislock.New(raw), redisKeys{raw}, nil},
			stand: side{redislock.New(memory), memoryKeys{memory}, nil},
		}
		for range steps {
			s.step()
			if t.Failed() {
				t.Logf("repeat with -seed=%d:\n%s", seed, strings.Join(s.log, "\n"))
				break
			}
		}
		obtained += len(s.real.locks)
	}
	t.Logf("from seed %d on, %d locks were obtained", first, obtained)
	if !t.Failed() && obtained < sequences {
		t.Error("too few for a comparison to mean much")
	}
}

// sequence applies the same operations to both.
type sequence struct {
	*testing.T
	*rand.Rand
	real, stand side
	log         []string
}

// side is a server with what was obtained from it.
type side struct {
	client *redislock.Client
	keys   keys
	locks  []*redislock.Lock
}

// keys are the keys of a server, past redislock.
type keys interface {
	put(key string, e entry) // in the place of what is there
	set(key, field, value string)
	expire(key string, ttl time.Duration) // negative: never
	forgetScripts()
	look() map[string]entry // expires is the time to live, -1 if there is none
}

// outcome is what an operation has shown.
type outcome struct {
	err    string
	number int64         // a fencing token, or what else the operation returned
	ttl    time.Duration // near to which the other's has to be
	holder redislock.Holder
}

// both applies an operation and compares what it shows and what it leaves behind.
func (s *sequence) both(what string, operate func(*side) outcome) {
	real, stand := operate(&s.real), operate(&s.stand)
	s.log = append(s.log, fmt.Sprintf("%s: %+v", what, real))
	if !near(real.ttl, stand.ttl) || !near(real.holder.TTL, stand.holder.TTL) {
		s.Errorf("%s: times to live of Redis %+v, of the stand-in %+v", what, real, stand)
	}
	real.ttl, real.holder.TTL = stand.ttl, stand.holder.TTL
	if real != stand {
		s.Errorf("%s: Redis %+v, the stand-in %+v", what, real, stand)
	}
	s.compareKeys(what)
}

// near reports whether two times to live are one, read one after the other.
func near(a, b time.Duration) bool {
	return (a < 0) == (b < 0) && (a-b).Abs() < 5*time.Second
}

func (s *sequence) compareKeys(what string) {
	real, stand := s.real.keys.look(), s.stand.keys.look()
	for _, key := range allKeys {
		a, b := real[key], stand[key]
		same := a.kind == b.kind && a.value == b.value && maps.Equal(s.real.named(a.fields), s.stand.named(b.fields))
		if ttls := near(time.Duration(a.expires)*time.Millisecond, time.Duration(b.expires)*time.Millisecond); !same || !ttls {
			s.Errorf("after %s, at %q: Redis has %+v, the stand-in %+v", what, key, a, b)
		}
	}
}

// named has a random ownership token replaced by the number of its lock.
func (side *side) named(fields map[string]string) map[string]string {
	i := slices.IndexFunc(side.locks, func(l *redislock.Lock) bool { return l.Token() == fields["token"] })
	if i >= 0 {
		fields["token"] = fmt.Sprint("lock ", i)
	}
	return fields
}

// step makes one operation.
func (s *sequence) step() {
	switch s.IntN(14) {
	case 0, 1, 2, 3, 4:
		s.obtain()
	case 5, 6:
		s.refresh()
	case 7, 8:
		s.release()
	case 9:
		s.ttl()
	case 10:
		s.request()
	case 11:
		s.foreign()
	case 12:
		s.expire()
	case 13:
		s.meddle()
	}
}

func pick[T any](s *sequence, from []T) T { return from[s.IntN(len(from))] }

// pickKeys are one key, or several.
func (s *sequence) pickKeys() []string {
	if s.IntN(3) > 0 {
		return []string{pick(s, lockKeys)}
	}
	picked := slices.Clone(lockKeys)
	s.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	picked = picked[:2+s.IntN(2)]
	if s.IntN(5) == 0 {
		picked = append(picked, picked[0]) // a key twice
	}
	return picked
}

// pickTTL returns a time to live that cannot be mistaken for another, however slow the machine.
func (s *sequence) pickTTL() time.Duration {
	return time.Duration(1+s.IntN(9)) * 20 * time.Second
}

func (s *sequence) obtain() {
	locks, ttl := s.pickKeys(), s.pickTTL()
	opt := redislock.Options{Metadata: pick(s, []string{"", "m", `{"identity":"a"}`}), Announce: s.IntN(2) == 0}
	if s.IntN(3) > 0 {
		opt.FenceKey = pick(s, counterKeys)
	}
	if opt.FenceKey != "" && s.IntN(3) == 0 {
		opt.FenceFloor = pick(s, []int64{1, 2, 10, 1000, 1<<53 - 3, 1<<53 - 2})
	}
	opt.FenceClock = opt.FenceKey != "" && s.IntN(3) == 0
	again := -1
	switch n := len(s.real.locks); {
	case n > 0 && s.IntN(2) == 0:
		again = s.IntN(n)
		if s.IntN(3) > 0 {
			locks = s.real.locks[again].Keys()
		}
	case s.IntN(4) == 0:
		opt.Token = pick(s, []string{"t1", "t2"})
	}
	s.both(fmt.Sprintf("obtain %q for %v with %+v, token of %d", locks, ttl, opt, again), func(side *side) outcome {
		opt, held := opt, redislock.Holder{}
		opt.OnHeld = func(h redislock.Holder) { held = h }
		if again >= 0 {
			opt.Token = side.locks[again].Token()
		}
		lock, err := side.client.ObtainMulti(s.Context(), locks, ttl, &opt)
		if err == nil {
			side.locks = append(side.locks, lock)
		}
		fence := lock.FenceToken()
		if opt.FenceClock {
			fence = s.align(side, locks, opt.FenceKey, fence)
		}
		return outcome{err: explain(err), number: fence, holder: held}
	})
}

// align makes fencing tokens of two clocks the same: that of the real server, if both are
// of this moment.
func (s *sequence) align(side *side, locks []string, counter string, fence int64) int64 {
	if fence == 0 || side == &s.real {
		return fence
	}
	if len(s.real.locks) != len(s.stand.locks) {
		return fence
	}
	real := s.real.locks[len(s.real.locks)-1].FenceToken()
	const near = int64(5 * time.Second / time.Microsecond)
	now := time.Now().UnixMicro()
	if real == fence || max(real, fence) > now+near || min(real, fence) < now-near {
		return fence
	}
	for _, key := range locks {
		side.keys.set(key, "fence", fmt.Sprint(real))
	}
	side.keys.put(counter, entry{kind: "string", value: fmt.Sprint(real)})
	return real
}

// explain is an error without what differs between two servers.
func explain(err error) string {
	if err == nil {
		return ""
	}
	for _, known := range []error{redislock.ErrNotObtained, redislock.ErrLockNotHeld, redislock.ErrInvalidTTL} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// each makes an operation on a lock that was obtained before.
func (s *sequence) each(what string, operate func(*redislock.Lock) outcome) {
	if len(s.real.locks) == 0 {
		return
	}
	i := s.IntN(len(s.real.locks))
	s.both(fmt.Sprintf("%s of lock %d", what, i), func(side *side) outcome { return operate(side.locks[i]) })
}

func (s *sequence) refresh() {
	ttl := s.pickTTL()
	s.each(fmt.Sprintf("refresh for %v", ttl), func(l *redislock.Lock) outcome {
		err := l.Refresh(s.Context(), ttl, nil)
		out := outcome{err: explain(err)}
		if l.ReleaseRequested() {
			out.number = 1
		}
		return out
	})
}

func (s *sequence) release() {
	s.each("release", func(l *redislock.Lock) outcome { return outcome{err: explain(l.Release(s.Context()))} })
}

func (s *sequence) ttl() {
	s.each("ttl", func(l *redislock.Lock) outcome {
		ttl, err := l.TTL(s.Context())
		return outcome{err: explain(err), ttl: ttl}
	})
}

func (s *sequence) request() {
	key, fence := pick(s, lockKeys), pick(s, []int64{0, 1, 7, 41, 1<<53 - 1})
	if e := s.real.keys.look()[key]; s.IntN(3) > 0 {
		_, _ = fmt.Sscan(e.fields["fence"], &fence)
	}
	s.both(fmt.Sprintf("request for %q of %d", key, fence), func(side *side) outcome {
		return outcome{err: explain(side.client.RequestRelease(s.Context(), key, fence))}
	})
}

// foreign puts something else in the place of a lock or a counter.
func (s *sequence) foreign() {
	e := entry{kind: pick(s, []string{"none", "list", "set", "zset", "stream", "string", "string", "string", "hash", "hash"})}
	switch e.kind {
	case "string":
		e.value = pick(s, numbers)
	case "hash":
		e.fields = make(map[string]string)
		for _, field := range []string{"token", "metadata", "fence", "resign", "other"} {
			if s.IntN(2) == 0 {
				e.fields[field] = pick(s, numbers)
			}
		}
		if s.IntN(2) == 0 {
			e.fields["token"] = pick(s, []string{"t1", "t2"})
		}
		e.fields["filler"] = "a hash without fields does not exist"
	}
	key := pick(s, allKeys)
	s.both(fmt.Sprintf("put %+v at %q", e, key), func(side *side) outcome {
		e := e
		e.fields = maps.Clone(e.fields)
		side.keys.put(key, e)
		return outcome{}
	})
}

// expire gives a key another time to live, or none, or lets it run out.
func (s *sequence) expire() {
	key := pick(s, allKeys)
	const soon = 2 * time.Millisecond
	ttl := pick(s, []time.Duration{-1, soon, soon, 300 * time.Second})
	s.both(fmt.Sprintf("expire %q in %v", key, ttl), func(side *side) outcome {
		side.keys.expire(key, ttl)
		if ttl == soon && side == &s.stand { // the second of both
			time.Sleep(2 * soon)
		}
		return outcome{}
	})
}

// meddle changes a field of a lock, or lets the server forget the scripts.
func (s *sequence) meddle() {
	key, field, value := pick(s, allKeys), pick(s, []string{"token", "metadata", "fence", "resign"}), pick(s, numbers)
	s.both(fmt.Sprintf("set %s of %q to %q", field, key, value), func(side *side) outcome {
		side.keys.forgetScripts()
		if side.keys.look()[key].kind == "hash" {
			side.keys.set(key, field, value)
		}
		return outcome{}
	})
}

// memoryKeys are those of the stand-in.
type memoryKeys struct{ *Server }

func (k memoryKeys) put(key string, e entry) {
	k.Delete(key)
	if e.kind != "none" {
		k.entries[key] = &e
	}
}

func (k memoryKeys) set(key, field, value string) { k.newCall(nil, nil).hset(key, field, value) }

func (k memoryKeys) expire(key string, ttl time.Duration) {
	switch e := k.newCall(nil, nil).live(key); {
	case e == nil:
	case ttl < 0:
		e.expires = 0
	default:
		k.newCall(nil, nil).pexpire(key, fmt.Sprint(ttl.Milliseconds()))
	}
}

func (k memoryKeys) forgetScripts() { clear(k.loaded) }

func (k memoryKeys) look() map[string]entry {
	all := make(map[string]entry)
	for _, key := range allKeys {
		seen := entry{kind: "none", expires: -2}
		if e := k.newCall(nil, nil).live(key); e != nil {
			seen = *e
			seen.fields = maps.Clone(e.fields)
			seen.expires = k.newCall(nil, nil).pttl(e)
		}
		all[key] = seen
	}
	return all
}

// redisKeys are those of a real server.
type redisKeys struct{ *redis.Client }

func (k redisKeys) do(args ...any) {
	if err := k.Do(context.Background(), args...).Err(); err != nil {
		panic(err)
	}
}

func (k redisKeys) put(key string, e entry) {
	k.do("DEL", key)
	switch e.kind {
	case "string":
		k.do("SET", key, e.value)
	case "list":
		k.do("RPUSH", key, "x")
	case "set":
		k.do("SADD", key, "x")
	case "zset":
		k.do("ZADD", key, 1, "x")
	case "stream":
		k.do("XADD", key, "*", "x", "x")
	case "hash":
		for field, value := range e.fields {
			k.do("HSET", key, field, value)
		}
	}
}

func (k redisKeys) set(key, field, value string) { k.do("HSET", key, field, value) }

func (k redisKeys) expire(key string, ttl time.Duration) {
	if ttl < 0 {
		k.do("PERSIST", key)
		return
	}
	k.do("PEXPIRE", key, ttl.Milliseconds())
}

func (k redisKeys) forgetScripts() { k.do("SCRIPT", "FLUSH") }

func (k redisKeys) look() map[string]entry {
	ctx, all, pipe := context.Background(), make(map[string]entry), k.Pipeline()
	var read []func()
	for _, key := range allKeys {
		kind, value, fields, ttl := pipe.Type(ctx, key), pipe.Get(ctx, key), pipe.HGetAll(ctx, key), pipe.Do(ctx, "PTTL", key)
		read = append(read, func() {
			expires, err := ttl.Int64()
			if err != nil {
				panic(err)
			}
			all[key] = entry{kind: kind.Val(), value: value.Val(), fields: fields.Val(), expires: expires}
		})
	}
	_, _ = pipe.Exec(ctx) // WRONGTYPE is of no interest
	for _, f := range read {
		f()
	}
	return all
}
