package faultproxy

import (
	"bufio"
	"time"
)

// idle is how long a delivery without work sleeps; it is woken before.
const idle = time.Hour

// replies reads from the server until it is gone or the link is cut.
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

// arrive takes in one whole reply and reports whether the link is to be cut
// instead of delivering it.
func (l *link) arrive(frame []byte) bool {
	l.proxy.mu.Lock()
	answered := l.match(frame)
	cut := answered != nil && !l.proxy.holed && l.proxy.drops(answered, frame)
	l.mute = l.mute || cut
	l.proxy.mu.Unlock()
	if !cut {
		l.enqueue(frame)
	}
	return cut
}

// match takes off and returns the call that frame answers, nil if none. The
// caller holds the lock.
func (l *link) match(frame []byte) *call {
	if len(l.calls) == 0 || !l.calls[0].answeredBy(frame, l.subscribed) {
		return nil
	}
	first := l.calls[0]
	l.calls = l.calls[1:]
	return first
}

// enqueue hands a frame, or with nil the end of the stream, to deliver. In a
// hole it is lost.
func (l *link) enqueue(frame []byte) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.mute = l.mute || l.proxy.holed
	if l.mute {
		return
	}
	l.queue = append(l.queue, reply{frame: frame, arrived: time.Now()})
	l.nudge()
}

// nudge has deliver look at the queue and the faults again.
func (l *link) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been nudged and did not look yet
	}
}

// deliver passes replies to the client as they fall due, until the link is cut.
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

// take returns the next reply, or how long to wait for it at most.
func (l *link) take() (reply, time.Duration) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if len(l.queue) == 0 {
		return reply{}, idle
	}
	next := l.queue[0]
	// Each reply counts from its own arrival, so delays do not add up.
	if wait := l.proxy.delay - time.Since(next.arrived); wait > 0 {
		return reply{}, wait
	}
	l.queue = l.queue[1:]
	return next, 0
}

// sleep waits for the time or a nudge and reports whether the link still is.
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

// send gives one reply to the client and reports whether the link goes on. The
// end of the stream is passed on as such: a reset could overtake replies.
func (l *link) send(next reply) bool {
	if next.frame == nil {
		_ = l.client.Close()
		return false
	}
	_, err := l.client.Write(next.frame)
	return err == nil
}
