// Package faultproxy stands between a Redis client and a server and breaks
// what a test wants broken: whole connections, one direction of time, or the
// reply to one single command.
//
// The proxy understands just enough RESP to pass commands and replies as whole
// frames and to know which reply belongs to which command, in RESP2 and RESP3,
// pub/sub included. A client therefore never sees half a reply: it sees all of
// it, nothing, or a cut connection.
//
// Faults hold for existing and new connections until [Proxy.Heal]. All methods
// are safe for concurrent use.
package faultproxy
