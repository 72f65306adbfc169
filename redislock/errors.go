package redislock

import "errors"

var (
	// ErrNotObtained is returned by Obtain when somebody else holds the lock, and by
	// Refresh when the lock is lost. Without retries Obtain returns this very value, so
	// == works. When a context ended the wait, the error matches both ErrNotObtained
	// and the context's error through errors.Is. An error of the connection or the
	// server never matches ErrNotObtained.
	ErrNotObtained = errors.New("redislock: not obtained")

	// ErrLockNotHeld is returned by Release when there was nothing to release, by
	// RequestRelease when nobody holds the lock with that fencing token, and by TTL and
	// Release of a nil *Lock.
	ErrLockNotHeld = errors.New("redislock: lock not held")

	// ErrInvalidTTL is matched by the errors of Obtain and Refresh for a ttl below 1 ms
	// or above 100 years. Nothing was sent to Redis.
	ErrInvalidTTL = errors.New("redislock: invalid ttl")

	// ErrUnsupportedClient is matched by the errors of Check, Obtain and RequestRelease
	// when the client is nil, a *redis.Ring, a pipeline or a transaction. A ring moves
	// keys to another server when a shard flaps, which would give one lock two holders.
	// A pipeline or transaction cannot follow a NOSCRIPT reply with a second command.
	// Nothing was sent to Redis.
	ErrUnsupportedClient = errors.New("redislock: unsupported client")
)
