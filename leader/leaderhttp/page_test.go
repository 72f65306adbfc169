package leaderhttp

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

var tag = regexp.MustCompile(`<[^>]*>`)

// readPage is what a page says, without its markup.
func readPage(t *testing.T, handler http.Handler) string {
	t.Helper()
	reply := get(handler, browserAccepts, "/")
	if kind := reply.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Fatalf("Content-Type %q", kind)
	}
	_, main, _ := strings.Cut(reply.Body.String(), "<main>")
	main, _, _ = strings.Cut(main, "</main>")
	return strings.Join(strings.Fields(tag.ReplaceAllString(main, " ")), " ")
}

func TestWhoGetsThePage(t *testing.T) {
	handler := StatusHandler()
	for _, c := range []struct {
		types, url string
		page       bool
	}{
		{"", "/", false},
		{"*/*", "/", false}, // curl
		{browserAccepts, "/", true},
		{browserAccepts, "/?format=json", false},
		{browserAccepts, "/?format=", true},
		{"application/json", "/", false},
		{"application/json, text/plain, */*", "/", false},
		{"application/json, text/html", "/", false},
		{"application/json;q=0.5, text/html", "/", true},
		{"text/html;q=0, */*", "/", false},
		{"text/html;q=none", "/", false},
		{"TEXT/HTML", "/", true},
		{"text/*", "/", false},
		{";;,,text/html", "/", true},
	} {
		reply := get(handler, c.types, c.url)
		want := "application/json"
		if c.page {
			want = "text/html; charset=utf-8"
		}
		if got := reply.Header(); got.Get("Content-Type") != want || got.Get("Vary") != "Accept" || got.Get("Cache-Control") != "no-store" || reply.Code != http.StatusOK {
			t.Errorf("Accept %q, %s: %d %v, want %s", c.types, c.url, reply.Code, got, want)
		}
	}
}

func TestPageInEveryState(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		finish := make(chan struct{})
		a := newCandidate(t, s, "a", func(cfg *leader.Config) {
			cfg.LeaseDuration = 2 * lease
			untilFinished(finish)(cfg)
		})
		b := newCandidate(t, s, "b", func(cfg *leader.Config) { cfg.LeaseDuration = 2 * lease })
		expect := func(when string, c *candidate, wants ...string) {
			t.Helper()
			synctest.Wait()
			got := readPage(t, StatusHandler(c.Elector))
			for _, want := range wants {
				if lacking, not := strings.CutPrefix(want, "!"); strings.Contains(got, lacking) == not {
					t.Errorf("%s: %s has %q: %t\n%s", when, c.identity, lacking, not, got)
				}
			}
		}
		expect("at first", a, "Election test ■ stopped Nobody is known to lead", "Run is not running", "None has ended yet. As of 2000-01-01 00:00:00 UTC", "!Fenc", "!Lease", "!Overdue")
		a.start(t)
		b.start(t)
		expect("a leads", a, "● leading a leads That is this candidate.", "Leads since 2000-01-01 00:00:00 UTC for 0s Fencing token 946684800000000 This candidate a leads", "Lease left unless renewed 2s of 2s", "this is its first")
		expect("a leads", b, "○ candidate a leads As this candidate saw it", "Leads since 2000-01-01 00:00:00 UTC for 0s Fencing token 946684800000000 This candidate b competes", "unless renewed 3s of 3s", "None has ended yet. As of")
		time.Sleep(900 * time.Millisecond) // b looks each 400 to 480 ms, a renews each second
		expect("a leads on", a, "for 900ms", "1.1s of 2s")
		expect("a leads on", b, "for 900ms", "of 3s", "!unless renewed 3s")
		a.cancel()
		time.Sleep(100 * time.Millisecond)
		expect("a drains", a, "◐ draining Nobody is known to lead", "its term has ended, but its work has not", "stopped after 900ms the program stopped Run began 2000-01-01 00:00:00 UTC fencing token 946684800000000", "!Overdue", "!Leads since")
		close(finish)
		await(t, lease, "b leads", b.IsLeader)
		expect("b leads", b, "● leading b leads", "Leads since 2000-01-01 00:00:01 UTC for", "Fencing token "+token(b)+" ", "2s of 2s")
		b.stop()
		expect("at last", b, "■ stopped", "stopped after ")
	})
}

func TestPageOfALeaderThatIsStuck(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		thaw := make(chan struct{})
		a := newCandidate(t, s, "a", untilThaw(thaw)).start(t)
		sleepToTheEnd(a, func() {})
		time.Sleep(3 * time.Second)
		if got := readPage(t, StatusHandler(a.Elector)); !strings.Contains(got, "◐ draining Nobody is known to lead") ||
			!strings.Contains(got, "Overdue: the term ended 3s ago, but this candidate has not stepped down.") {
			t.Error(got)
		}
		close(thaw)
		await(t, lease, "a has stepped down", func() bool { return len(a.Status().LastTerms) == 1 })
		if got := readPage(t, StatusHandler(a.Elector)); strings.Contains(got, "Overdue") || !strings.Contains(got, "expired after 4.5s not renewed by the deadline") {
			t.Error(got)
		}
	})
}

// hold makes somebody hold the lock of an election, with that leader record and a fencing
// token above floor.
func hold(t *testing.T, s *server, name, record string, floor int64) {
	t.Helper()
	opt := redislock.Options{Metadata: record, FenceKey: leader.FenceKey("", name), FenceFloor: floor}
	if _, err := redislock.Obtain(t.Context(), s, leader.LockKey("", name), time.Hour, &opt); err != nil {
		t.Fatal(err)
	}
}

// varying is what differs between two pages: nonces, and what is left of leases.
var varying = regexp.MustCompile(`nonce="\w+"|"\d+\.\d+"`)

// Anybody who may write to Redis may choose an identity. Whatever it is, the markup
// around it stays the same.
func TestPageIsNotFooled(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</main></script><svg onload=alert(1)>`,
		`{{.Nonce}}`, "javascript:alert(1)", `<!--`, `]]>`, `&lt;script&gt;`, "\u202egnp.exe", "a\x00b\r\n\tc\x7f", "\xff\xfe", strings.Repeat("x", 1<<16),
	}
	bubble(t, func(t *testing.T, s *server) {
		markup := func(text string) ([]string, string) {
			hold(t, s, text, text, 0)
			a := newCandidate(t, s, text, func(cfg *leader.Config) {
				cfg.Name = text
				cfg.LeaseDuration = time.Hour // the clock since boot is real: a slow machine must not be late
			}).start(t)
			if a.GetLeader() != text {
				t.Errorf("%.40q leads, not %.40q", a.GetLeader(), text)
			}
			body := get(StatusHandler(a.Elector), browserAccepts, "/").Body.String()
			tags := tag.FindAllString(body, -1)
			for i := range tags {
				tags[i] = varying.ReplaceAllString(tags[i], "")
			}
			return tags, body
		}
		plain, body := markup("plain")
		// Name, leader, candidate: none can turn the text around it.
		if n := strings.Count(body, "<bdi>plain</bdi>"); n != 3 {
			t.Errorf("%d texts are isolated", n)
		}
		for _, text := range hostile[1:] {
			if got, body := markup(text); !slices.Equal(got, plain) || strings.Count(body, "nonce=") != 2 {
				t.Errorf("%.40q: the tags are %.3000q, want %.3000q", text, got, plain)
			}
		}
		if got, body := markup(hostile[0]); !slices.Equal(got, plain) || !strings.Contains(body, "<title>&lt;script&gt;alert(1)&lt;/script&gt; leads ") || !strings.Contains(body, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi> leads") {
			t.Errorf("an identity is not shown as it is: %s", body)
		}
	})
}

func TestPageLetsNothingInFromElsewhere(t *testing.T) {
	var nonces []string
	for range 2 {
		reply := get(StatusHandler(), browserAccepts, "/")
		body, policy := reply.Body.String(), reply.Header().Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`script-src 'nonce-([A-Z2-7]+)'`).FindStringSubmatch(policy)
		if nonce == nil || !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(body, `<script nonce="`+nonce[1]+`">`) || !strings.Contains(body, `<style nonce="`+nonce[1]+`">`) {
			t.Fatalf("policy %q", policy)
		}
		nonces = append(nonces, nonce[1])
		if found := regexp.MustCompile(`(?i)(https?:)?//[a-z]|\bsrc=|@import|url\(|\sstyle=|\son[a-z]+=`).FindAllString(body, -1); len(found) > 0 {
			t.Errorf("the page has %q", found)
		}
		for _, want := range []string{`<html lang="en">`, `<title>0 elections</title>`, `name="viewport" content="width=device-width, initial-scale=1"`, `<noscript><meta http-equiv="refresh" content="5"></noscript>`, `<h1>`} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
	}
	if nonces[0] == nonces[1] {
		t.Error("a nonce was used twice")
	}
}

func TestPageKeepsTheLatestTerms(t *testing.T) {
	const kept, terms = 10, 12
	bubble(t, func(t *testing.T, s *server) {
		a := newCandidate(t, s, "a", nil).start(t)
		var tokens []int64
		for range terms {
			await(t, time.Minute, "a leads", a.IsLeader)
			term, _ := a.Term()
			tokens = append(tokens, term.FenceToken())
			time.Sleep(time.Second)
			if err := a.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		past := a.Status().LastTerms
		if len(past) != kept {
			t.Fatalf("%d terms", len(past))
		}
		for i, term := range past {
			if term.FenceToken != tokens[terms-1-i] || term.Reason != leader.EndedResigned || term.Lasted.Round(10*time.Millisecond) != time.Second || term.StartedAt.UnixMicro() != term.FenceToken {
				t.Errorf("term %d: %+v", i, term)
			}
		}
		if n := strings.Count(readPage(t, StatusHandler(a.Elector)), "resigned after 1s asked to resign began"); n != kept {
			t.Errorf("the page shows %d terms", n)
		}
	})
}

func TestTermThatNeverBeganIsNotShown(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		asked := 0
		a := newCandidate(t, s, "a", func(cfg *leader.Config) {
			cfg.FenceFloor = func(context.Context) (int64, error) { asked++; return 0, errors.New("away") }
		}).start(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		if terms := a.Status().LastTerms; len(terms) != 0 || asked < 2 {
			t.Errorf("%d terms had no token: %+v", asked, terms)
		}
		if got := readPage(t, StatusHandler(a.Elector)); !strings.Contains(got, "None has ended yet") {
			t.Error(got)
		}
	})
}

// When the term of another candidate began comes from its token, if that is a time.
func TestSinceWhenAnotherLeads(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		now := time.Now()
		const year = 365 * 24 * time.Hour
		for _, c := range []struct {
			name  string
			fence int64
			known bool
		}{
			{"now", now.UnixMicro(), true},
			{"an hour ago", now.Add(-time.Hour).UnixMicro(), true},
			{"years ago", now.Add(-19 * year).UnixMicro(), true},
			{"the server's clock is ahead", now.Add(time.Second).UnixMicro(), true},
			{"the counter is ahead", now.Add(time.Hour).UnixMicro(), false},
			{"before there were elections", now.Add(-21 * year).UnixMicro(), false},
			{"a counter from 1 on", 1, false},
			{"a high floor", 1 << 52, false},
		} {
			hold(t, s, c.name, "other", c.fence-1)
			a := newCandidate(t, s, "a", func(cfg *leader.Config) { cfg.Name = c.name }).start(t)
			got := a.Status()
			if got.Leader.FenceToken != c.fence || got.LeaderSince.IsZero() == c.known || c.known && got.LeaderSince.UnixMicro() != c.fence {
				t.Errorf("%s: token %d, since %v", c.name, got.Leader.FenceToken, got.LeaderSince)
			}
			if not := strings.Contains(readPage(t, StatusHandler(a.Elector)), "Leads since not known"); not == c.known {
				t.Errorf("%s: the page shows that it is not known: %t", c.name, not)
			}
		}
	})
	if gone := (panel{At: noon}).Gone(noon.Add(time.Second)); gone != 0 {
		t.Errorf("a term began %v ago", gone)
	}
}

func TestBrief(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "850ms": 850*time.Millisecond + 300*time.Microsecond, "6.4s": 6420 * time.Millisecond, "1m1s": 61200 * time.Millisecond, "3h0m0s": 3 * time.Hour,
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestEveryReasonIsExplained(t *testing.T) {
	for _, reason := range leader.EndReasons() {
		if explanations[reason] == "" {
			t.Errorf("%s is not", reason)
		}
	}
	if got := (pastTerm{leader.PastTerm{Reason: "new"}}).Explanation(); got != "new" {
		t.Errorf("Explanation = %q", got)
	}
}
