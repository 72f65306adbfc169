package redislock

import "errors"

var (
	// ErrNotObtained is returned by Obtain when somebody else holds the lock, and by
	// Refresh when the lock is no longer ours. Without retries Obtain returns this very
	// value, so == works; when waiting was ended by a context the error matches both
	// ErrNotObtained and the context's error through errors.Is. A transport error never
	// matches it.
	ErrNotObtained = errors.New("redislock: not obtained")

	// ErrLockNotHeld is returned by Release when there was nothing of ours to release,
	// and by TTL and Release of a nil *Lock.
	ErrLockNotHeld = errors.New("redislock: lock not held")

	// ErrInvalidTTL is matched by the errors of Obtain and Refresh for a ttl below 1 ms
	// or above 100 years. Nothing has been sent to Redis then.
	ErrInvalidTTL = errors.New("redislock: invalid ttl")

	// ErrUnsupportedClient is matched by the error of Obtain when the client is nil, a
	// *redis.Ring, a pipeline or a transaction. A ring moves keys to another server
	// when a shard flaps, which would give one lock two holders; a pipeline or
	// transaction cannot answer NOSCRIPT with a second command. Nothing has been sent
	// to Redis then.
	ErrUnsupportedClient = errors.New("redislock: unsupported client")
)
