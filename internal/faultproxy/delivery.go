package faultproxy

import (
	"bufio"
	"time"
)

// idleWait is how long deliver waits if there is nothing to deliver. A notification ends
// the wait.
const idleWait = time.Hour

// replies reads from the server until the server closes the connection or the link is
// cut.
func (l *link) replies() {
	r := bufio.NewReader(l.upstream)
	for {
		frame, err := readFrame(r)
		if err != nil {
			l.enqueue(nil)
			return
		}
		if l.arrive(frame) {
			l.cut()
			return
		}
	}
}

// arrive handles one whole reply. It reports whether the link is to be cut instead of
// delivering the reply.
func (l *link) arrive(frame []byte) bool {
	l.proxy.mu.Lock()
	answered := l.match(frame)
	cut := answered != nil && !l.proxy.holed && l.proxy.drops(answered, frame)
	l.lostReply = l.lostReply || cut
	l.proxy.mu.Unlock()
	if !cut {
		l.enqueue(frame)
	}
	return cut
}

// match removes and returns the call that frame answers, or returns nil if it answers
// none. The caller holds proxy.mu.
func (l *link) match(frame []byte) *call {
	if len(l.calls) == 0 || !l.calls[0].answeredBy(frame, l.subscribed) {
		return nil
	}
	first := l.calls[0]
	l.calls = l.calls[1:]
	return first
}

// enqueue passes a frame to deliver, or nil for the end of the stream. In a hole it is
// lost.
func (l *link) enqueue(frame []byte) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.lostReply = l.lostReply || l.proxy.holed
	if l.lostReply {
		return
	}
	l.queue = append(l.queue, reply{frame: frame, arrived: time.Now()})
	l.notify()
}

// notify makes deliver look at the queue and the faults again.
func (l *link) notify() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been notified and has not looked yet
	}
}

// deliver sends replies to the client when they are due, until the link is cut.
func (l *link) deliver() {
	for {
		next, wait := l.take()
		if wait > 0 {
			if !l.sleep(wait) {
				return
			}
			continue
		}
		if !l.send(next) {
			l.cut()
			return
		}
	}
}

// take returns the next reply, or how long to wait at most before looking again.
func (l *link) take() (reply, time.Duration) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if len(l.queue) == 0 {
		return reply{}, idleWait
	}
	next := l.queue[0]
	// The delay of each reply starts when it arrives, so delays do not add up.
	if wait := l.proxy.delay - time.Since(next.arrived); wait > 0 {
		return reply{}, wait
	}
	l.queue = l.queue[1:]
	return next, 0
}

// sleep waits for the given time or a notification. It reports false if the link has
// been cut.
func (l *link) sleep(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-l.ctx.Done():
		return false
	case <-l.wake:
	case <-timer.C:
	}
	return true
}

// send sends one reply to the client and reports whether the link continues. At the end
// of the stream it closes the connection in order, because a reset could overtake
// replies.
func (l *link) send(next reply) bool {
	if next.frame == nil {
		_ = l.client.Close()
		return false
	}
	_, err := l.client.Write(next.frame)
	return err == nil
}
