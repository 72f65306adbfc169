// Package leader elects one leader among the replicas of a service, on Redis, in the
// manner of Kubernetes leader election.
//
// Each replica runs an Elector. One of them holds the lock of package redislock and
// leads: its OnStartedLeading runs, with a context that ends with the term and a Term
// that carries a fencing token. The others are candidates and wait.
//
// # The model
//
// A term begins with an obtained lock and is extended by each successful refresh. Both
// count from sent, the instant just before the request was sent, by this process's
// clocks; the server applied it later than that. Hence
//
//	sent + RenewDeadline  <  sent + LeaseDuration - margin  <=  expiry of the lock on the server
//	the term ends            what redislock relies on           another candidate can obtain it
//
// where margin is redislock.Margin, for clocks that run at different rates. No
// machine's wall clock is compared with another's. The lease is renewed every
// LeaseDuration/3. A failed attempt is repeated after at most RetryPeriod. The time
// that an attempt may take is chosen so that, after the first, two more fit before
// RenewDeadline:
//
//	LeaseDuration/3 + 3 attempts + 2 pauses  <=  RenewDeadline
//
// A pause is RetryPeriod, or a sixth of the time from LeaseDuration/3 to RenewDeadline
// if that is less. New rejects timings that leave less than 5 ms for an attempt.
//
// # What it promises
//
// At most one candidate believes that it leads, as long as clocks run at nearly the
// same rate, the Redis server's wall clock does not step, and no acknowledged write is
// lost in a failover. Even so, work that does not stop between RenewDeadline and
// LeaseDuration can overlap with the next leader's. Without any such assumption: a
// resource that atomically rejects a fencing token lower than the highest it has seen
// never applies a write of a deposed leader.
//
// # States
//
// An elector whose Run has been called is in one of three states until its context
// ends.
//
//	            lock obtained               the term ends
//	candidate ----------------> leading ----------------> draining
//	    ^                                                     |
//	    +-----------------------------------------------------+
//	        callbacks have returned, lock released, pause
//
// A term ends because ctx ended, somebody asked for it (Resign, ResignTerm,
// RequestResign), the work returned, panicked or called Term.Fail, the lock was lost,
// or it was not renewed in time. Then, in this order: IsLeader becomes false, the
// work's context is done, OnStartedLeading returns, OnStoppedLeading runs, the lock is
// released, and the release is announced to those who wait. In between the lease is
// renewed for as long as it is ours. The lock is never released while the work runs.
//
// # Reading the code
//
// Elector is what others may read, candidate is what the goroutine of Run owns, and
// each state is a file: campaign.go, lead.go, stepdown.go. term.go and renewal.go keep
// the time, timing.go has all the numbers, and wait.go is how a candidate waits.
package leader
