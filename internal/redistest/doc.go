// Package redistest starts real Redis servers for tests.
//
// Each [Server] has a free loopback port, a directory of its own and a life that the
// test controls: it can crash, shut down, restart with the same data, freeze and thaw.
// [Replica], [Sentinels] and [Cluster] build the usual topologies from servers.
//
// Nothing outlives the test: a cleanup stops every process, and on Linux the kernel
// kills it if the test binary is killed first. On other systems a killed test binary
// leaves its servers behind. Programs that are not tests use [Launch], which returns an
// error, and stop the server themselves.
//
// The environment variables REDIS_SERVER and REDIS_SENTINEL choose the programs that run
// as servers and as sentinels, for example redis-server of another version, or
// valkey-server. Each holds a name to look up in PATH or an absolute path. By default
// redis-server is both.
//
// If there is no server to run, the tests fail; they are never skipped. A suite that
// passes when its server is absent proves nothing.
package redistest
