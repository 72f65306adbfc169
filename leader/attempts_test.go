package leader

import "sync"

// attemptCounter is a recorder that also counts attempts to obtain and to renew.
type attemptCounter struct {
	recorder
	mu       sync.Mutex
	acquired map[AcquireResult]int
	renewals []Renewal
}

func newAttemptCounter(r *replica) *attemptCounter {
	return &attemptCounter{recorder: recorder{r: r}, acquired: make(map[AcquireResult]int)}
}

func (o *attemptCounter) AcquireAttempted(_ string, result AcquireResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acquired[result]++
}

func (o *attemptCounter) RenewAttempted(_ string, renewal Renewal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewals = append(o.renewals, renewal)
}

func (o *attemptCounter) acquires(result AcquireResult) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acquired[result]
}

// renewed are the attempts to renew that match.
func (o *attemptCounter) renewed(match func(Renewal) bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, renewal := range o.renewals {
		if match(renewal) {
			n++
		}
	}
	return n
}

func succeeded(r Renewal) bool { return r.Err == nil }
func failed(r Renewal) bool    { return r.Err != nil }
