package leadertest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// sources are the scripts of redislock.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../redislock/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q %v", files, err)
	}
	var all []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(source))
	}
	return all
}

func sum(source string) string {
	digest := sha1.Sum([]byte(source))
	return hex.EncodeToString(digest[:])
}

func TestKnowsEachScriptOfRedislock(t *testing.T) {
	server := NewServer()
	all := sources(t)
	for _, source := range all {
		if err := server.ScriptLoad(t.Context(), source).Err(); err != nil {
			t.Error(err)
		}
	}
	if len(all) != len(scripts) {
		t.Errorf("%d scripts, of %d that redislock has", len(scripts), len(all))
	}
}

// Scripts become known, and replies have types, as on a real server.
func TestRunsScriptsAsRedisDoes(t *testing.T) {
	t.Parallel()
	real := redistest.Start(t).Client(t)
	for _, source := range sources(t) {
		real.FlushAll(t.Context())
		real.ScriptFlush(t.Context())
		var replies [2][]string
		for i, client := range []redis.Scripter{real, NewServer()} {
			show := func(reply any, err error) {
				replies[i] = append(replies[i], fmt.Sprintf("%T %v %v", reply, reply, err))
			}
			token, zero := "t", int64(0)
			keys, args := []string{"a", "b"}, []any{&token, "7", 60_000, &zero, "f"}

			show(client.ScriptExists(t.Context(), sum(source), "x").Result())
			err := client.EvalSha(t.Context(), sum(source), keys, args...).Err()
			show(redis.HasErrorPrefix(err, "NOSCRIPT"), nil)
			show(client.Eval(t.Context(), source, keys, args...).Result())
			show(client.EvalSha(t.Context(), sum(source), keys, args...).Result())
			show(client.ScriptExists(t.Context(), sum(source), "x").Result())
			show(client.ScriptLoad(t.Context(), source).Result())
		}
		if !reflect.DeepEqual(replies[0], replies[1]) {
			t.Errorf("%.40q: Redis replies\n%q, the stand-in\n%q", source, replies[0], replies[1])
		}
	}
}

func TestRunsNothingElse(t *testing.T) {
	server := NewServer()
	for name, err := range map[string]error{
		"Eval":       server.Eval(t.Context(), "return 1", nil).Err(),
		"ScriptLoad": server.ScriptLoad(t.Context(), "-- Does something else").Err(),
		"EvalRO":     server.EvalRO(t.Context(), sources(t)[0], nil).Err(),
		"EvalShaRO":  server.EvalShaRO(t.Context(), sum(sources(t)[0]), nil).Err(),
	} {
		if err == nil {
			t.Errorf("%s runs it", name)
		}
	}
}
