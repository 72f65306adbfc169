package main

// keys names what one run of the job keeps in Redis. The braces put all of it into one
// slot of a Redis Cluster, as a script needs.
type keys string

func (k keys) fence() string  { return k.of("fence") }
func (k keys) slots() string  { return k.of("slots") }
func (k keys) outbox() string { return k.of("outbox") }

// forgetful and repeating are the outboxes of the controls.
func (k keys) forgetful() string { return k.of("control:forgetful") }
func (k keys) repeating() string { return k.of("control:repeating") }

func (k keys) of(what string) string { return "scheduled-job:{" + string(k) + "}:" + what }

// all are these keys, and those of the election.
func (k keys) all() []string {
	lock := "redisleader:{" + string(k) + "}"
	return []string{k.fence(), k.slots(), k.outbox(), k.forgetful(), k.repeating(), lock, lock + ":fence"}
}
