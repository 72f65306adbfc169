package leaderhttp

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

	"github.com/redisleader/redisleader/leader"
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
	Nonce  string // admits the page's own style and script, and nothing else
	At     time.Time
	Panels []panel
}

// Title starts with the most important fact, because a background tab shows little more.
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
	Late    string    // in what way this candidate is overdue, "" if it is not
	Past    []pastTerm
}

// pastTerm is a term of this candidate that has ended.
type pastTerm struct{ leader.PastTerm }

func newPanel(s leader.Status) panel {
	p := panel{status: newStatus(s), At: s.At, Since: s.LeaderSince, Forever: s.LeaseRemaining < 0}
	for _, t := range s.LastTerms {
		p.Past = append(p.Past, pastTerm{t})
	}
	if s.Overdue > 0 {
		p.Late = fmt.Sprintf("the term ended %v ago, but this candidate has not stepped down.", brief(s.Overdue))
	}
	if s.Leader.Identity != "" && !p.Forever {
		p.Lease = &gauge{s.LeaseRemaining, s.LeaseTotal}
	}
	return p
}

// Self reports whether this candidate leads, rather than another with its identity.
func (p panel) Self() bool { return p.State == leader.StateLeading }

// Gone is how long ago t was. It is not negative, though the clock that t comes from may
// be ahead.
func (p panel) Gone(t time.Time) time.Duration { return max(0, p.At.Sub(t)) }

// gauge is what is left of a lease.
type gauge struct{ Left, Whole time.Duration }

// Seconds is how much of the bar is filled.
func (g gauge) Seconds() string { return seconds(g.Left) }

// Limit is the full length of the bar.
func (g gauge) Limit() string { return seconds(g.Whole) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }

// explanations says in words why a term has ended.
var explanations = map[leader.EndReason]string{
	leader.EndedLost:     "somebody else held the lock, or it was gone",
	leader.EndedExpired:  "not renewed by the deadline",
	leader.EndedResigned: "asked to resign",
	leader.EndedReturned: "the work returned before its context was done",
	leader.EndedFailed:   "the work gave up",
	leader.EndedDeposed:  "the resource has accepted a later leader",
	leader.EndedPanicked: "a callback panicked",
	leader.EndedStopped:  "the program stopped Run",
}

// Explanation says in words why the term ended.
func (t pastTerm) Explanation() string { return cmp.Or(explanations[t.Reason], string(t.Reason)) }

// brief formats a duration with no more digits than people need.
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

// wantsPage reports whether the client is a browser. Browsers ask for text/html by name.
// Programs that accept anything get JSON.
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
			quality, _ = strconv.ParseFloat(q, 64) // 0 if it is not a number
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

func newPage(all []leader.Status) page {
	p := page{Nonce: rand.Text(), At: time.Now()}
	for _, s := range all {
		p.Panels = append(p.Panels, newPanel(s))
	}
	return p
}

// write sends the page. Its security policy admits nothing from other origins, and no
// style or script but the page's own.
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
	_, _ = w.Write(body.Bytes()) // it fails only if the client has gone away
}
