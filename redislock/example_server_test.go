package redislock_test

import "github.com/redisleader/redisleader/redislock"

// redisAddr is where the examples find Redis: a server that TestMain has started for
// this run.
var redisAddr string

func init() { redislock.ServerStarted = func(addr string) { redisAddr = addr } }
