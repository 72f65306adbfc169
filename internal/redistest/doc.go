// Package redistest gives tests real redis-server processes of their own.
//
// Each [Server] has a free loopback port, a directory that goes with the test
// and a life cycle the test controls: crash, clean shutdown, restart with the
// same data, freeze and thaw. [Replica], [Sentinels] and [Cluster] build the
// usual topologies from servers.
//
// Nothing survives the test: a cleanup stops and reaps every process, and on
// Linux the kernel kills it when the test binary is killed first. On other
// systems a killed test binary leaves its servers behind.
//
// A missing redis-server fails the test, it never skips it: a suite that
// passes when its server is absent proves nothing.
//
// Failures are reported through the testing.TB given to [Start], so the
// methods that can fail belong on the goroutine of that test.
package redistest
