package faultproxy

// Action is what happens to one command.
type Action int

const (
	// Pass forwards the command and delivers its reply. It is the zero Action; the
	// faults of the proxy still apply.
	Pass Action = iota
	// CutBefore cuts the connection. The server never sees the command.
	CutBefore
	// CutAfter forwards the command and waits for the whole reply, so that the command
	// has been applied. Then it drops the reply and cuts the connection.
	CutAfter
	// Swallow loses the command and all later ones on its connection, whose replies
	// the client would otherwise match to the wrong commands. The connection stays
	// open, and replies to earlier commands are delivered. Heal cuts the connection.
	Swallow
)
