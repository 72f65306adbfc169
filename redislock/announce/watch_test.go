package announce

import "testing"

func TestUnreadAnnouncementsAreReplaced(t *testing.T) {
	w := &Watch{c: make(chan Announcement, 1)}
	w.deliver(Announcement{Kind: Released})
	w.deliver(Announcement{Kind: Acquired})
	if a := <-w.c; a.Kind != Acquired || len(w.c) != 0 {
		t.Errorf("read %+v, %d left", a, len(w.c))
	}
}

// A client without the method Subscribe, or none at all, is good enough to try without
// announcements.
func TestClientWithoutSubscribeGivesASilentWatch(t *testing.T) {
	for _, client := range []any{nil, struct{}{}} {
		subs := New(client)
		w := subs.Watch(job)
		expectNothing(t, w)
		if _, contended := subs.Contended(job); contended {
			t.Error("contended")
		}
		w.Close()
		w.Join()
	}
}
