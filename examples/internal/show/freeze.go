package show

import "errors"

// freezeAttempts is how often to freeze a leader to have a late write; once is enough,
// unless the machine is very busy.
const freezeAttempts = 3

// Freeze has a leader frozen just before a write and woken up too late for it, by
// freezeOnce, which reports whether the write was late indeed. It is left out where no
// signal freezes a process.
func (t *Timeline) Freeze(freezeOnce func() (late bool, err error)) error {
	if !CanFreeze {
		t.Now(Demo, "left out: this system has no signal that freezes a process")
		return nil
	}
	for range freezeAttempts {
		late, err := freezeOnce()
		if err != nil || late {
			return err
		}
		t.Now(Demo, "its write was not late; once more")
	}
	return errors.New("no write came late")
}
