package leader

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"clock": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"exact": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"brief": brief,
}).Parse(pageText))

// page is what page.html shows.
type page struct {
	Nonce  string // of the page's own style and script: nothing else may run
	At     time.Time
	Panels []panel
}

// Title says the most important thing first: it is all that shows of a tab in the
// background.
func (p page) Title() string {
	switch {
	case len(p.Panels) != 1:
		return fmt.Sprintf("%d elections", len(p.Panels))
	case p.Panels[0].Leader == "":
		return "Nobody is known to lead " + p.Panels[0].Name
	default:
		return p.Panels[0].Leader + " leads " + p.Panels[0].Name
	}
}

// panel is one elector.
type panel struct {
	status
	At      time.Time
	Since   time.Time // when the leader's term began; zero if that is not known
	Lease   *gauge    // nil: nothing is known to run out
	Forever bool      // the lock of the leader never runs out
	Late    string    // why this candidate is overdue, "" if it is not
	Past    []pastTerm
}

// Self reports whether this candidate is the leader, and not one that has the same
// identity.
func (p panel) Self() bool { return p.State == stateLeading }

// Gone is how long ago something was. The other's clock may be ahead.
func (p panel) Gone(t time.Time) time.Duration { return max(0, p.At.Sub(t)) }

// gauge is what is left of a lease.
type gauge struct{ Left, Whole time.Duration }

// Seconds are for the bar.
func (g gauge) Seconds() string { return seconds(g.Left) }

// Limit is the length of the bar.
func (g gauge) Limit() string { return seconds(g.Whole) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }

// explanations of the reasons for the end of a term, for who reads them at night.
var explanations = map[EndReason]string{
	EndedLost:     "the lock was somebody else’s, or gone",
	EndedExpired:  "not renewed by the deadline",
	EndedResigned: "Resign was called",
	EndedReturned: "the work returned by itself",
	EndedPanicked: "a callback panicked",
	EndedStopped:  "the program asked Run to end",
}

// Explanation is why the term ended, in words.
func (t pastTerm) Explanation() string { return cmp.Or(explanations[t.Reason], string(t.Reason)) }

func (e *Elector) panel(s status, at time.Time) panel {
	p := panel{status: s, At: at, Past: e.history.latest()}
	if err := e.Check(0); err != nil {
		p.Late = strings.TrimPrefix(err.Error(), "leader: ")
	}
	if t, ok := e.Term(); ok {
		p.Since = t.StartedAt()
		p.Lease = &gauge{t.Remaining(), e.timing.deadline}
		return p
	}
	seen := e.observed.Load()
	if p.Leader == "" || seen == nil {
		return p
	}
	p.Since = mintedAt(seen.leader.FenceToken, at)
	if p.Forever = seen.ttl < 0; !p.Forever {
		left := max(0, seen.ttl-e.now().Since(seen.at))
		p.Lease = &gauge{left, max(left, e.timing.lease)}
	}
	return p
}

// mintedAt is when a fencing token was minted, by the clock of the server: tokens are
// microseconds unless the counter or the floor of somebody is ahead of that clock. Zero
// if that is so.
func mintedAt(fence int64, now time.Time) time.Time {
	const ahead, year = time.Minute, 365 * 24 * time.Hour
	t := time.UnixMicro(fence)
	if t.After(now.Add(ahead)) || t.Before(now.Add(-20*year)) {
		return time.Time{}
	}
	return t
}

// brief is a duration with as many digits as a person needs.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// wantsPage reports whether the reader is a browser. Those name text/html; programs
// that accept anything get JSON.
func wantsPage(r *http.Request) bool {
	if r.URL.Query().Get("format") == "json" {
		return false
	}
	var html, json float64
	for _, entry := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, parameters, err := mime.ParseMediaType(entry)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, ok := parameters["q"]; ok {
			quality, _ = strconv.ParseFloat(q, 64) // 0 if it is none
		}
		switch kind {
		case "text/html":
			html = quality
		case "application/json":
			json = quality
		}
	}
	return html > json
}

func newPage(electors []*Elector, all []status) page {
	p := page{Nonce: rand.Text(), At: time.Now()}
	for i, e := range electors {
		p.Panels = append(p.Panels, e.panel(all[i], p.At))
	}
	return p
}

// write sends the page. Nothing in it may come from elsewhere, nor run but its own
// style and script.
func (p page) write(w http.ResponseWriter, code int) {
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src 'nonce-%[1]s'; script-src 'nonce-%[1]s'; connect-src 'self'; base-uri 'none'; form-action 'none'", p.Nonce))
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes()) // an error is the reader's: it has gone away
}
