package announce

import (
	"strconv"
	"strings"
)

// channels is the number of channels over which the processes that watch one lock are
// spread. Only this package knows it: the scripts of package redislock are given the
// names.
const channels = 4

// Channels returns the names of the channels on which the lock named key is announced:
// key + ":announce:0" and so on. If key has a Cluster hash tag, they have it too.
func Channels(key string) []string {
	all := make([]string, channels)
	for i := range all {
		all[i] = channel(key, i)
	}
	return all
}

func channel(key string, i int) string { return key + ":announce:" + strconv.Itoa(i) }

// The messages that the scripts publish. After released there may be a space and the
// number of processes that listen on the same channel.
const (
	released = "released"
	acquired = "acquired"
)

// maxListeners bounds how long a forged message can delay an attempt.
const maxListeners = 1000

// decode reads a message. The number of listeners has a meaning only for Released.
func decode(payload string) (kind Kind, listeners int, ok bool) {
	word, number, _ := strings.Cut(payload, " ")
	switch word {
	case released:
		listeners, _ = strconv.Atoi(number)
		return Released, min(listeners, maxListeners), true
	case acquired:
		return Acquired, 0, true
	}
	return 0, 0, false
}
