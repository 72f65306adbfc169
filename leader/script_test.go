package leader

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"slices"
	"testing"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// script is one of the scripts of redislock.
type script struct{ source, sum string }

func readScript(tb testing.TB, name string) script {
	tb.Helper()
	source, err := os.ReadFile("../redislock/" + name + ".lua")
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha1.Sum(source)
	return script{string(source), hex.EncodeToString(sum[:])}
}

// runs reports whether a command runs the script, be it by its sum or whole.
func (p script) runs(c faultproxy.Command) bool {
	return c.Name == "EVALSHA" && c.Args[0] == p.sum || c.Name == "EVAL" && c.Args[0] == p.source
}

// calls are the commands that run the script by its sum, as the proxy has seen them.
// There is one for each time that a client sent it.
func (env *environment) calls(p script) []faultproxy.Command {
	return slices.DeleteFunc(env.proxy.Commands(), func(c faultproxy.Command) bool { return c.Name != "EVALSHA" || !p.runs(c) })
}
