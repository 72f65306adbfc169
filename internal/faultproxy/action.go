package faultproxy

// Action is what happens to one command.
type Action int

const (
	// Pass forwards the command and delivers its reply. It is the zero Action;
	// the faults of the proxy still apply.
	Pass Action = iota
	// CutBefore cuts the connection; the server never sees the command.
	CutBefore
	// CutAfter forwards the command, waits until the whole reply has arrived,
	// so that the command has been applied, drops the reply and cuts the
	// connection.
	CutAfter
	// Swallow loses the command and whatever follows it on its connection,
	// which stays open: it could only answer out of step from now on. Replies to
	// earlier commands are delivered. Heal cuts the connection.
	Swallow
)
