package redislock

import "time"

// Holder describes who holds a lock that Obtain could not have. It comes from the reply
// of the failed attempt itself and costs no further command. It never contains the
// ownership token.
type Holder struct {
	// Metadata is what the holder passed as Options.Metadata. Of a foreign key it is
	// the Redis type of what the key holds, such as "string".
	Metadata string

	// FenceToken is the holder's fencing token, 0 if it has none.
	FenceToken int64

	// TTL is how long the key lives unless it is refreshed, as of the reply, in whole
	// milliseconds. Negative means that it never expires.
	TTL time.Duration

	// Foreign says that the key holds something other than a lock of this package:
	// another type, or a hash without a token. Obtain never overwrites such a key.
	Foreign bool
}
