package e2e

// faultKind is a way to break something. The table at the end of a run shows its name.
type faultKind string

const (
	freezeCandidate    faultKind = "candidate: SIGSTOP"
	killCandidate      faultKind = "candidate: SIGKILL, restart"
	terminateCandidate faultKind = "candidate: SIGTERM, restart"
	holeLink           faultKind = "connection: all traffic lost"
	muteLink           faultKind = "connection: applied, no reply"
	delayLink          faultKind = "connection: late replies"
	cutLink            faultKind = "connection: cut"
	refuseLink         faultKind = "connection: refused"
	killClients        faultKind = "Redis: CLIENT KILL"
	killPubsub         faultKind = "Redis: CLIENT KILL TYPE pubsub"
	flushScripts       faultKind = "Redis: SCRIPT FLUSH"
	pauseClients       faultKind = "Redis: CLIENT PAUSE"
	freezeRedis        faultKind = "Redis: SIGSTOP"
	crashRedis         faultKind = "Redis: crash, restart with data"
	loseRedis          faultKind = "Redis: crash, restart without data"
	fillMemory         faultKind = "Redis: out of memory"
	flushAll           faultKind = "data: FLUSHALL"
	deleteLock         faultKind = "data: DEL of the lock"
	replaceLock        faultKind = "data: foreign value in place of the lock"
	forge              faultKind = "data: forged announcements"
)

// place is where a fault acts. Two faults at one place exclude each other.
type place int

const (
	atRedis place = iota
	atProcess
	atLink
)

// faultClass is what the schedule knows about a kind of fault.
type faultClass struct {
	kind        faultKind
	place       place
	least, most float64 // how long it lasts, in leases; 0 is a fault without duration
}

var faultClasses = []faultClass{
	{freezeCandidate, atProcess, 0.3, 3},
	{killCandidate, atProcess, 0.1, 2},
	{terminateCandidate, atProcess, 0.1, 2},
	{holeLink, atLink, 0.3, 3},
	{muteLink, atLink, 0.3, 1},
	{delayLink, atLink, 0.3, 3},
	{cutLink, atLink, 0.3, 1},
	{refuseLink, atLink, 0.3, 3},
	{killClients, atRedis, 0, 0},
	{killPubsub, atRedis, 0, 0},
	{flushScripts, atRedis, 0, 0},
	{pauseClients, atRedis, 0.3, 3},
	{freezeRedis, atRedis, 0.3, 3},
	{crashRedis, atRedis, 0, 2},
	{loseRedis, atRedis, 0, 2},
	{fillMemory, atRedis, 0.5, 3},
	{flushAll, atRedis, 0, 0},
	{deleteLock, atRedis, 0, 0},
	{replaceLock, atRedis, 0.1, 1},
	{forge, atRedis, 0, 0},
}
