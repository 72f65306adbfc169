// Package e2e tests the library as its users meet it: candidates are separate
// processes, Redis is a real server, and faults are real signals, dead servers and a
// proxy that loses what passes through it.
//
// A candidate is the test binary itself, started again with an environment variable
// set, so that -race reaches it as well. It leads with a worker that writes to a
// guarded resource, a second Redis server that no fault touches, and reports what
// happens to it. The test adds what it does: freezes, kills, faults. Both make one
// history.
//
// Two kinds of expectation follow. Each spec says what is special about it. And
// whatever a spec is about, when it is over its history is checked against the promises
// of the library (see check): terms do not overlap, fencing tokens rise, each start has
// its stop, the guarded register never went back and is linearizable (porcupine
// decides), and after a fault somebody led again in time. The checker has tests of its
// own, which feed it histories that break each of these rules.
//
// In the specs of Sentinel and Cluster the server is one of several, of which one
// replaces another. A failover may lose the lease; then two may believe that they lead
// until the old leader has asked the new master, and no longer (see excuses).
//
// TestChaos, behind the build tag chaos, does the same to five candidates with random
// faults from a seeded schedule: see `make chaos`. One seed gives one schedule of
// faults. What the candidates make of it is up to the machine, so that a run which
// fails may have to be repeated more than once to fail again.
package e2e
