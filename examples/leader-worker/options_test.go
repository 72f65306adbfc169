package main

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

func TestReplicaFlags(t *testing.T) {
	t.Setenv("REDIS_URL", "redis://127.0.0.1:7000/3")
	cfg, err := parseReplica([]string{"-replica", "-resource", "http://127.0.0.1:9000/", "-lease", "3s", "-name", "n", "-identity", "i"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.redis.Addr != "127.0.0.1:7000" || cfg.redis.DB != 3 || !cfg.redis.ContextTimeoutEnabled {
		t.Errorf("redis options: %+v", cfg.redis)
	}
	if cfg.lease != 3*time.Second || cfg.name != "n" || cfg.identity != "i" || cfg.watchStdin {
		t.Errorf("config: %+v", cfg)
	}
	cfg, err = parseReplica([]string{"-replica", "-resource", "http://h", "-redis", "redis://other:1"}, os.Stderr)
	if err != nil || cfg.redis.Addr != "other:1" || cfg.lease != 15*time.Second {
		t.Errorf("a flag takes precedence over the environment: %+v, %v", cfg, err)
	}
}

func TestBadFlagsAreNamed(t *testing.T) {
	t.Setenv("REDIS_URL", "")
	const resource = "-resource=http://127.0.0.1:9000"
	replica := func(args []string, out *strings.Builder) error { _, err := parseReplica(args, out); return err }
	demo := func(args []string, out *strings.Builder) error { _, err := parseDemo(args, out); return err }
	for _, c := range []struct {
		parse func([]string, *strings.Builder) error
		args  []string
		want  []string
	}{
		{replica, []string{"-replica"}, []string{"-resource is missing"}},
		{replica, []string{"-replica", "-resource", "127.0.0.1:9000"}, []string{"-resource", `"127.0.0.1:9000"`}},
		{replica, []string{"-replica", "-resource", "ftp://h"}, []string{"-resource", `"ftp://h"`}},
		{replica, []string{"-replica", resource, "-lease", "soon"}, []string{"-lease", `"soon"`}},
		{replica, []string{"-replica", resource, "-redis", "http://h"}, []string{"-redis", "REDIS_URL", `"http://h"`, "scheme"}},
		{replica, []string{"-replica", resource, "more"}, []string{`"more"`}},
		{demo, []string{"-redis", "127.0.0.1"}, []string{"-redis", `"127.0.0.1"`}},
		{demo, []string{"-color", "blue"}, []string{"-color", `"blue"`, "always"}},
		{demo, []string{"-colour"}, []string{"-colour"}},
	} {
		var out strings.Builder
		err := c.parse(c.args, &out)
		if err == nil || usageStatus(err) != exitUsage {
			t.Errorf("%v: %v", c.args, err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: printed %q, which lacks %q", c.args, out.String(), want)
			}
		}
	}
	if err := demo([]string{"-h"}, new(strings.Builder)); !errors.Is(err, flag.ErrHelp) || usageStatus(err) != exitOK {
		t.Errorf("-h: %v", err)
	}
}

func TestPasswordsStayHidden(t *testing.T) {
	t.Setenv("REDIS_URL", "")
	for _, url := range []string{"http://u:secret@h", "redis://u:secret%zz@h", "redis://u:sec@ret:x@h:y", "redis://:secret@h:port"} {
		var out strings.Builder
		_, err := parseDemo([]string{"-redis", url}, &out)
		if err == nil {
			t.Errorf("%s: no error", url)
		}
		if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "sec@") {
			t.Errorf("%s: printed %s", url, out.String())
		}
	}
}
