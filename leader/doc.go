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
// with a margin of LeaseDuration/100 + 2 ms for clocks that run at different rates.
// Nobody's wall clock is compared with anybody else's. The lease is renewed every
// LeaseDuration/3. A failed attempt is repeated after at most RetryPeriod, and the time
// an attempt may take is chosen so that, after the first, two more fit before
// RenewDeadline:
//
//	LeaseDuration/3 + 3 attempts + 2 pauses  <=  RenewDeadline
//
// with pauses of RetryPeriod or a sixth of what there is, whichever is less. New
// rejects timings for which an attempt would have less than 5 ms.
//
// # What it promises
//
// At most one candidate believes to lead, as long as clocks run at nearly the same
// rate, the Redis server's wall clock does not step, and no acknowledged write is lost
// in a failover. Work that does not stop between RenewDeadline and LeaseDuration can
// overlap with the next leader's even so. What holds without any such assumption: a
// resource that atomically rejects a fencing token lower than the highest it has seen
// never applies a write of a deposed leader.
//
// # Stepping down
//
// A term ends because ctx ended, Resign was called, OnStartedLeading returned, the lock
// was lost, or it was not renewed in time. Then, in this order: IsLeader becomes false,
// the work's context is done, OnStartedLeading returns, OnStoppedLeading runs, the lock
// is released, and the release is announced to those who wait. The lease is renewed in
// between as long as it is ours: the lock is never released while the work runs.
package leader
