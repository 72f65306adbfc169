// Package faultproxy is a proxy between a Redis client and a server that injects the
// faults a test asks for: it cuts or refuses connections, delays replies, and loses
// commands or the reply to a single command.
//
// The proxy understands just enough RESP to forward commands and replies as whole frames
// and to know which reply belongs to which command, in RESP2 and RESP3, pub/sub
// included. A client therefore never sees half a reply: it sees all of it, nothing, or a
// cut connection.
//
// Faults apply to existing and new connections until [Proxy.Heal]. All methods are safe
// for concurrent use.
package faultproxy
