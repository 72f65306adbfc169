package leader

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

func TestResignTermEndsThatTermAlone(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil)
		resign := func(token int64) {
			t.Helper()
			begin := time.Now()
			if err := a.ResignTerm(t.Context(), token); err != nil || !time.Now().Equal(begin) {
				t.Errorf("ResignTerm(%d) = %v after %v", token, err, time.Since(begin))
			}
		}
		resign(0) // of a candidate that does not run
		resign(1)
		a.start(t)
		await(t, 0, "a leads", a.atWork)
		first := a.lastTerm()
		resign(0)
		resign(first.FenceToken() + 1)
		if !a.IsLeader() || a.lastTerm() != first {
			t.Fatal("a resigned from a term that it does not hold")
		}
		ctx := a.lastCtx()
		resign(first.FenceToken())
		if a.IsLeader() || a.holds() || a.stops() != 1 || !errors.Is(context.Cause(ctx), ErrResigned) {
			t.Errorf("afterwards: leader %t, holds %t, %d stops, cause %v", a.IsLeader(), a.holds(), a.stops(), context.Cause(ctx))
		}
		if last := a.Status().LastTerms; len(last) != 1 || last[0].Reason != EndedResigned {
			t.Errorf("LastTerms = %+v", last)
		}
		resign(first.FenceToken()) // while a stays out
		out := await(t, 4*a.timing.retry, "a leads again, being alone", a.atWork)
		if out < 2*a.timing.retry-time.Millisecond {
			t.Errorf("a was back after %v, RetryPeriod is %v", out, a.timing.retry)
		}
		resign(first.FenceToken())
		if !a.IsLeader() || a.stops() != 1 {
			t.Error("a request for a past term ended a later one")
		}
		a.join()
	})
}

func TestResignTermWaitsForTheStepDown(t *testing.T) {
	for name, resign := range map[string]func(*replica, context.Context) error{
		"Resign":     func(a *replica, ctx context.Context) error { return a.Resign(ctx) },
		"ResignTerm": func(a *replica, ctx context.Context) error { return a.ResignTerm(ctx, a.lastTerm().FenceToken()) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				finish := make(chan struct{})
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.DrainTimeout = time.Second
					cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
				}).start(t)
				await(t, 0, "a leads", a.atWork)
				impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if err := resign(a, impatient); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("with a context that ends = %v", err)
				}
				if a.IsLeader() {
					t.Error("a goes on leading")
				}
				// Asked while it drains.
				if err := resign(a, t.Context()); !errors.Is(err, ErrDrainTimeout) {
					t.Errorf("with work that does not return = %v, want %v", err, ErrDrainTimeout)
				}
				<-a.done
				close(finish)
			})
		})
	}
}

// A term whose token was raised is known by the one that it leads with.
func TestResignTermKnowsTheRaisedToken(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { return 41, nil }
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		// Obtained with this one.
		if err := a.ResignTerm(t.Context(), 1); err != nil || !a.IsLeader() {
			t.Errorf("ResignTerm(1) = %v, a leads %t", err, a.IsLeader())
		}
		if err := a.ResignTerm(t.Context(), 42); err != nil || a.IsLeader() {
			t.Errorf("ResignTerm(42) = %v, a leads %t", err, a.IsLeader())
		}
		a.join()
	})
}

// A request that is stored with the lock is met by the next renewal.
func TestRequestIsHeededByTheNextRenewal(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a, b := pair(t, server)
		ctx := a.lastCtx()
		time.Sleep(a.timing.renew + time.Millisecond) // just renewed
		server.requestRelease(a.key)
		if waited := await(t, a.timing.renew, "b leads", b.atWork); waited < a.timing.renew-2*time.Millisecond {
			t.Errorf("b led after %v, without a renewal of a", waited)
		}
		if !errors.Is(context.Cause(ctx), ErrResigned) || a.stops() != 1 {
			t.Errorf("cause = %v, %d stops", context.Cause(ctx), a.stops())
		}
		if last := a.Status().LastTerms; len(last) != 1 || last[0].Reason != EndedResigned {
			t.Errorf("LastTerms = %+v", last)
		}
		time.Sleep(5 * testLease)
		if !b.IsLeader() || b.starts() != 1 {
			t.Errorf("b leads %t after %d starts: the request met it as well", b.IsLeader(), b.starts())
		}
		a.join()
		b.join()
	})
}

// A leader that was asked comes back if there is nobody else, to a lock without a
// request.
func TestRequestEndsOneTerm(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		server.requestRelease(a.key)
		await(t, testLease, "a steps down", func() bool { return a.stops() == 1 })
		if out := await(t, 4*a.timing.retry, "a leads again", a.atWork); out < 2*a.timing.retry-time.Millisecond {
			t.Errorf("a was back after %v, RetryPeriod is %v", out, a.timing.retry)
		}
		time.Sleep(5 * testLease)
		if a.stops() != 1 {
			t.Errorf("%d terms have ended", a.stops())
		}
		a.join()
	})
}

// A request ends the term even before its work has started.
func TestRequestWhileFenceFloorIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() }
		}).start(t)
		synctest.Wait()
		server.requestRelease(a.key)
		time.Sleep(a.timing.renew + time.Millisecond)
		synctest.Wait()
		if a.holds() || len(a.recorded()) != 0 {
			t.Errorf("a holds the lock: %t, events %q", a.holds(), a.recorded())
		}
		a.join()
	})
}

// requests are the two ways to ask the leader of an election to resign.
var requests = map[string]func(*environment, int64) error{
	"RequestResign": func(env *environment, token int64) error {
		locker := redislock.New(env.client(env.server.Addr())) // of another machine
		return RequestResign(env.Context(), locker, LockKey("", "test"), token)
	},
	"redis-cli": func(env *environment, token int64) error { // as the documentation says
		const script = "return redis.call('HGET',KEYS[1],'fence')==ARGV[1] and redis.call('HSET',KEYS[1],'resign',ARGV[1])"
		err := env.redis.Eval(env.Context(), script, []string{"redisleader:{test}"}, strconv.FormatInt(token, 10)).Err()
		if errors.Is(err, redis.Nil) { // false
			return redislock.ErrLockNotHeld
		}
		return err
	},
}

func TestRequestResignOverRedis(t *testing.T) {
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const lease = 2 * testLease
			env := newEnvironment(t)
			long := func(cfg *Config, _ *replica) { cfg.LeaseDuration = lease }
			a, b := env.lead(env.behind("a", long)), env.start(env.behind("b", long))
			env.await("b follows", func() bool { return b.GetLeader() == "a" })
			ctx, token := a.lastCtx(), a.lastTerm().FenceToken()
			if seen, ok := b.Leader(); !ok || seen.FenceToken != token {
				t.Errorf("b sees %+v, want token %d", seen, token)
			}
			if err := request(env, token-1); err != redislock.ErrLockNotHeld {
				t.Errorf("for another term = %v, want %v", err, redislock.ErrLockNotHeld)
			}

			asked := time.Now()
			if err := request(env, token); err != nil {
				t.Fatal(err)
			}
			if cause := env.done(ctx); !errors.Is(cause, ErrResigned) {
				t.Errorf("cause = %v", cause)
			}
			if took := time.Since(asked); took > lease/3+lease/5 {
				t.Errorf("a stepped down after %v, want a third of %v", took, lease)
			}
			env.await("b leads", b.atWork)
			if took := time.Since(asked); took > lease/3+lease/4 {
				t.Errorf("b led after %v, want a third of %v and a hand-over", took, lease)
			}
			env.await("a has stepped down", func() bool { return a.stops() == 1 })
			if last := a.Status().LastTerms; len(last) != 1 || last[0].Reason != EndedResigned || last[0].FenceToken != token {
				t.Errorf("LastTerms = %+v", last)
			}

			if err := request(env, token); err != redislock.ErrLockNotHeld {
				t.Errorf("for a past term = %v, want %v", err, redislock.ErrLockNotHeld)
			}
			time.Sleep(lease)
			if !b.IsLeader() || b.starts() != 1 || a.starts() != 1 {
				t.Errorf("b leads %t after %d starts, a started %d times", b.IsLeader(), b.starts(), a.starts())
			}
		})
	}
}

// The term ends for another reason before the leader has read the request. It goes with
// the lock.
func TestRequestNeverMeetsALaterTerm(t *testing.T) {
	for name, end := range map[string]func(*environment, *replica){
		"Released": func(_ *environment, a *replica) { _ = a.join() },
		"Deleted":  func(env *environment, _ *replica) { env.do("DEL", env.key) },
		"RanOut": func(env *environment, a *replica) {
			env.proxy.Refuse()
			env.await("the lock runs out", func() bool { return env.holder() != "a" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			a := env.lead(env.behind("a", nil))
			b := env.start(env.beside("b", nil))
			env.await("b follows", func() bool { return b.GetLeader() == "a" })
			token := a.lastTerm().FenceToken()
			env.proxy.OnCommand(swallowRefreshes(t)) // a does not read it
			if err := requests["RequestResign"](env, token); err != nil {
				t.Fatal(err)
			}
			end(env, a)
			env.await("b leads", b.atWork)
			time.Sleep(testLease) // three renewals
			if !b.IsLeader() || b.starts() != 1 || env.redis.HExists(t.Context(), env.key, "resign").Val() {
				t.Errorf("b leads %t after %d starts: it was asked as well", b.IsLeader(), b.starts())
			}
		})
	}
}

func TestRequestResignWithoutALock(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	for name, request := range requests {
		if err := request(env, 1); err != redislock.ErrLockNotHeld {
			t.Errorf("%s without a lock = %v, want %v", name, err, redislock.ErrLockNotHeld)
		}
		if env.redis.Exists(t.Context(), env.key).Val() != 0 {
			t.Fatalf("%s has created the key", name)
		}
	}
	env.do("SET", env.key, "theirs")
	if err := requests["RequestResign"](env, 1); err != redislock.ErrLockNotHeld {
		t.Errorf("with a foreign key = %v, want %v", err, redislock.ErrLockNotHeld)
	}
	if err := RequestResign(t.Context(), nil, env.key, 1); err == nil {
		t.Error("no error without a locker")
	}
	if err := RequestResign(t.Context(), redislock.New(env.redis.Pipeline()), env.key, 1); !errors.Is(err, redislock.ErrUnsupportedClient) {
		t.Errorf("with a pipeline = %v, want %v", err, redislock.ErrUnsupportedClient)
	}
	env.proxy.Refuse()
	err := RequestResign(t.Context(), redislock.New(env.client(env.proxy.Addr(), noRetries)), env.key, 1)
	if err == nil || errors.Is(err, redislock.ErrLockNotHeld) {
		t.Errorf("without Redis = %v", err)
	}
}
