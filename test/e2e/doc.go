// Package e2e tests the library as its users meet it: candidates are separate processes, Redis is a real server, and
// faults are real signals, dead servers and a proxy that loses what passes through it.
//
// A candidate is the test binary itself, started again with an environment variable set, so that -race reaches it as well.
// It leads with a worker that writes to a guarded resource, a second Redis server that no fault touches, and reports
// what happens to it. The test adds what it does: freezes, kills, faults. Both make one history.
//
// Two kinds of expectation follow. Each spec says what is special about it. And whatever a spec is about, when it is over
// its history is checked against the promises of the library (see check): terms do not overlap, fencing tokens rise,
// each start has its stop, the guarded register never went back, and after a fault somebody led again in time. The checker
// has tests of its own, which feed it histories that break each of these rules.
package e2e
