// Package clock tests what happens when a clock that redisleader relies on does not run
// as it should: the wall clock of the Redis server is set forward and back while a lock
// is held. The server is a real one. A library preloaded into it (testdata/skew.c)
// shifts its clock, so the clock of this machine stays as it is.
//
// The suspension of a client's machine is tested where the client's clocks can be
// injected or shifted: in internal/clock, redislock and leader.
package clock
