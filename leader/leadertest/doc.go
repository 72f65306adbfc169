// Package leadertest helps to test programs that use package leader, without a Redis.
//
//   - NewTerm makes a term to hand to OnStartedLeading in a unit test, and to end with any
//     cause.
//   - NewServer makes a stand-in for Redis in memory, for tests of whole elections: who
//     leads, and what happens when the leader resigns, loses its lock or cannot reach Redis.
//
// Both work in the bubbles of testing/synctest, where a lease of 15 s runs out in no time
// and synctest.Wait says that an elector has done all it can do at this moment. Neither
// starts a goroutine. The time since boot is real even in a bubble, and a term heeds it too:
// do not compute for seconds between two renewals.
package leadertest
