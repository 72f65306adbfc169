// Package announce carries announcements of released locks over one shared
// subscription.
//
// A candidate that only polls learns of a release up to a whole period late. So package
// redislock publishes a message when it releases a lock (if Options.Announce is set),
// and candidates watch for that message here. An announcement is a hint that makes the
// wait short. It may be late, repeated, forged or missing, and everything works without
// it. Use it to try earlier than you would have tried anyway, never instead of trying.
//
// All watches of one Subscriptions share one connection to Redis. The first watch opens
// it and the last one closes it. Two goroutines serve it while it is open. Watch.Join
// waits until they have ended.
//
// # One release, many candidates
//
// A message to each of a hundred candidates would keep the server busy for longer than
// the hand-over takes, and a hundred attempts would follow. So the candidates for one
// lock are spread over a few channels (see Channels). A release is announced on one
// channel after another until at least four candidates were notified. Of these, two try
// at once on average. The others wait a moment, and give up as soon as they hear that
// the lock was acquired.
package announce
