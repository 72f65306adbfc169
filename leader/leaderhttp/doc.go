// Package leaderhttp serves the health and the status of electors over HTTP: for liveness
// probes, for load balancers that send requests to the leader, for programs and for people.
//
// It reads everything from leader.Elector.Status and Check. No handler waits for an elector
// or sends a command to Redis.
package leaderhttp
