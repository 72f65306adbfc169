// Package clock tests what happens when a clock that redisleader relies upon does not
// run as it should: the wall clock of the Redis server is set forward and back while a
// lock is held. The server is a real one whose clock is shifted by a library preloaded
// into it (testdata/skew.c), so that the clock of this machine is left alone.
//
// A suspend of a client's machine is tested where the client's clocks can be injected
// or shifted: in internal/clock, redislock and leader.
package clock
