package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// clientGoContender is client-go's elector in each replica. Its requests are function
// calls: no network, no encoding.
func clientGoContender() contender {
	return contender{
		name:     "client-go, fake clientset",
		releases: 2, // get and update
		renews:   true,
		newReplica: func(e *election, id string) (replica, error) {
			r := &clientGoReplica{running: newRunning()}
			r.lock = newLeaseLock(e, id)
			r.config = clientGoConfig(e, r.lock, r.work)
			return r, nil
		},
	}
}

func clientGoConfig(
	e *election, lock resourcelock.Interface, work func(context.Context),
) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   e.timings.lease,
		RenewDeadline:   e.timings.deadline,
		RetryPeriod:     e.timings.retry,
		ReleaseOnCancel: true,
		Name:            e.name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: work, OnStoppedLeading: func() {},
		},
	}
}

type clientGoReplica struct {
	lock   *leaseLock
	config leaderelection.LeaderElectionConfig
	running
}

func (r *clientGoReplica) work(ctx context.Context) {
	r.start()
	<-ctx.Done()
}

func (r *clientGoReplica) compete(ctx context.Context) (time.Time, error) {
	return r.run(ctx, r.elect)
}

// elect makes a new elector and runs it: client-go cannot run one twice.
func (r *clientGoReplica) elect(ctx context.Context) error {
	elector, err := leaderelection.NewLeaderElector(r.config)
	if err != nil {
		return err
	}
	elector.Run(klog.NewContext(ctx, logr.Discard()))
	return nil
}

func (r *clientGoReplica) leave(context.Context) (time.Time, error) {
	began := time.Now()
	return began, r.stop()
}

func (r *clientGoReplica) crash() { r.lock.cut.Store(true) }
func (r *clientGoReplica) close() { _ = r.stop() }

// leaseLock is a lock on a Lease that counts requests and can be cut off.
type leaseLock struct {
	resourcelock.Interface
	requests *atomic.Int64
	meter    *meter
	cut      atomic.Bool
	renewed  atomic.Pointer[time.Time] // when the latest create or update succeeded
}

func newLeaseLock(e *election, id string) *leaseLock {
	return &leaseLock{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: e.name},
			Client:     e.cluster.clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		},
		requests: &e.cluster.requests,
		meter:    e.meter,
	}
}

func (l *leaseLock) Get(
	ctx context.Context,
) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.send(ctx); err != nil {
		return nil, nil, err
	}
	return l.Interface.Get(ctx)
}

func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	return l.note(l.Interface.Create(ctx, record))
}

func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	return l.note(l.Interface.Update(ctx, record))
}

// send counts a request. Like one over a network, it fails if its ctx has ended.
func (l *leaseLock) send(ctx context.Context) error {
	if l.cut.Load() {
		return errors.Join(errCut, ctx.Err())
	}
	l.requests.Add(1)
	if l.meter != nil {
		l.meter.commands.Add(1)
	}
	return ctx.Err()
}

// note records the time of a create or update that succeeded.
func (l *leaseLock) note(err error) error {
	if now := time.Now(); err == nil {
		l.renewed.Store(&now)
	}
	return err
}
