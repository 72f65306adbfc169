package main

import (
	"strconv"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// cluster is an API server in memory: client-go's simple fake clientset, which costs
// client-go the least.
type cluster struct {
	clients  *fake.Clientset
	requests atomic.Int64
}

// newCluster returns an empty cluster. The fake clientset by itself accepts an update of
// an old version, and so would elect two leaders. This one refuses it, as an API server
// does.
func newCluster() *cluster {
	c := &cluster{clients: fake.NewSimpleClientset()}
	c.clients.PrependReactor("update", "leases", c.update)
	return c
}

// update is called once at a time, because the fake clientset holds its lock.
func (c *cluster) update(action clienttesting.Action) (bool, runtime.Object, error) {
	lease, ok := action.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease)
	if !ok {
		return false, nil, nil
	}
	resource := action.GetResource()
	current, err := c.clients.Tracker().Get(resource, lease.Namespace, lease.Name)
	if err != nil {
		return true, nil, err
	}
	version := current.(*coordinationv1.Lease).ResourceVersion
	if version != lease.ResourceVersion {
		return true, nil, apierrors.NewConflict(resource.GroupResource(), lease.Name, nil)
	}
	next := lease.DeepCopy()
	number, _ := strconv.ParseInt(version, 10, 64)
	next.ResourceVersion = strconv.FormatInt(number+1, 10)
	return true, next, c.clients.Tracker().Update(resource, next, next.Namespace)
}
