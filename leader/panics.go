package leader

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"github.com/go-logr/logr"
)

// panics remembers the first panic of a callback until Run can continue it on the
// caller's goroutine.
type panics struct {
	logger logr.Logger
	end    atomic.Pointer[context.CancelCauseFunc] // ends the Run
	first  atomic.Pointer[panicValue]
}

type panicValue struct{ value any }

// start forgets the panic of an earlier Run. end ends the new one.
func (p *panics) start(end context.CancelCauseFunc) {
	p.end.Store(&end)
	p.first.Store(nil)
}

// record takes the result of recover. The stack is logged, because the panic that
// continues from Run has another.
func (p *panics) record(recovered any) {
	if recovered != nil && p.first.CompareAndSwap(nil, &panicValue{recovered}) {
		p.logger.Error(nil, "Callback panicked", "panic", recovered, "stack", string(debug.Stack()))
		(*p.end.Load())(ErrPanicked)
	}
}

func (p *panics) recorded() bool { return p.first.Load() != nil }

// resume continues the panic that was recorded, if any.
func (p *panics) resume() {
	if first := p.first.Load(); first != nil {
		panic(first.value)
	}
}
