package redislock

import "time"

// Holder describes who holds a lock that Obtain did not get. It comes with the reply to
// the attempt and costs no further command. It never contains the ownership token.
type Holder struct {
	// Metadata is what the holder passed as Options.Metadata. For a foreign key it is
	// the Redis type of its value, such as "string".
	Metadata string

	// FenceToken is the holder's fencing token, or 0 if it has none.
	FenceToken int64

	// TTL is the time to live that the key had when Redis replied, in whole
	// milliseconds. It is negative if the key never expires.
	TTL time.Duration

	// Foreign is true if the key holds something other than a lock of this package: a
	// value of another type, or a hash without a token. Obtain never overwrites it.
	Foreign bool
}
