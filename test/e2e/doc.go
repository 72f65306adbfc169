// Package e2e tests the library end to end: candidates are separate processes, Redis is
// a real server, and faults are real signals, dead servers and a proxy that drops
// traffic.
//
// A candidate is the test binary itself, started again with an environment variable
// set, so that -race covers it too. While it leads, a worker writes to a guarded
// resource, which is a second Redis server that no fault touches. The candidate reports
// what happens to it. The test adds what it does itself: freezes, kills and other
// faults. Together these events are the history of the spec.
//
// Each spec has expectations of its own. In addition, when a spec is over, a checker
// compares its history with what the library promises (see check): terms do not
// overlap, fencing tokens increase, each start has its stop, the guarded register never
// accepts a lower token after a higher one and is linearizable (porcupine decides), and
// after a fault somebody leads again in time. The checker has tests of its own, which
// feed it histories that break each of these rules.
//
// The specs for Sentinel and Cluster run against several servers, one of which replaces
// another. A failover may lose the lock. Then two candidates may believe that they lead
// until the old leader has asked the new master, and no longer (see allowedOverlaps).
//
// TestChaos, behind the build tag chaos, injects random faults from a seeded schedule
// into five candidates: see `make chaos`. A seed fixes the schedule of faults, but not
// how the machine schedules the processes, so a run that failed may have to be repeated
// several times before it fails again.
package e2e
