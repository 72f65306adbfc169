package leader

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"github.com/go-logr/logr"
)

// panics keeps the first panic of a callback until Run can continue it on the caller's
// goroutine.
type panics struct {
	logger logr.Logger
	end    atomic.Pointer[context.CancelCauseFunc] // ends the Run
	first  atomic.Pointer[panicValue]
}

type panicValue struct{ value any }

// start forgets the panic of an earlier Run and takes what ends this one.
func (p *panics) start(end context.CancelCauseFunc) {
	p.end.Store(&end)
	p.first.Store(nil)
}

// keep takes the result of recover. The stack is logged, because the panic that
// continues from Run has another.
func (p *panics) keep(recovered any) {
	if recovered != nil && p.first.CompareAndSwap(nil, &panicValue{recovered}) {
		p.logger.Error(nil, "Callback panicked", "panic", recovered, "stack", string(debug.Stack()))
		(*p.end.Load())(errPanicked)
	}
}

func (p *panics) kept() bool { return p.first.Load() != nil }

// resume continues the panic that was kept, if any.
func (p *panics) resume() {
	if first := p.first.Load(); first != nil {
		panic(first.value)
	}
}
