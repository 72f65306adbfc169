package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// describeMachine says where the results come from. It contains nothing that identifies a
// host.
func describeMachine(s *server) string {
	return fmt.Sprintf("%s, %d cores, %s/%s; %s; %s on the same machine, over loopback TCP."+
		" Measured: %s.",
		cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(),
		s.Version(), strings.Join(peerVersions(), ", "))
}

// cpuModel is the name that the kernel has for the processor.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	return parseCPUModel(string(text))
}

func parseCPUModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); strings.TrimSpace(name) == "model name" && value != "" {
			return value
		}
	}
	return "unknown processor"
}

// peerVersions are the modules that are compared, in the versions that are built into
// this program.
func peerVersions() []string {
	measured := map[string]bool{
		"github.com/redis/go-redis/v9":     true,
		"github.com/bsm/redislock":         true,
		"github.com/go-redsync/redsync/v4": true,
		"github.com/redis/rueidis":         true,
		"k8s.io/client-go":                 true,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var versions []string
	for _, m := range info.Deps {
		if measured[m.Path] {
			versions = append(versions, m.Path+" "+m.Version)
		}
	}
	return versions
}
