package main

import "time"

// schedule says when the job is due. Slots are numbered, so that a slot has one name
// for all replicas: not when something ran but what ran is what is claimed. For a job
// of your own, a slot may be time.Time.Truncate of its period, or what a cron
// expression yields.
type schedule struct {
	start  time.Time // of slot 0
	period time.Duration
}

// at is when a slot is due.
func (s schedule) at(slot int64) time.Time { return s.start.Add(time.Duration(slot) * s.period) }

// latest is the latest slot that is due, negative before the first. That it depends on
// this machine's clock does no harm: with another clock a slot runs a little sooner or
// later, and still once.
func (s schedule) latest(now time.Time) int64 {
	if now.Before(s.start) {
		return -1
	}
	return int64(now.Sub(s.start) / s.period)
}
