module github.com/redisleader/redisleader/examples/loggers

go 1.26.0

replace github.com/redisleader/redisleader => ../..

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/go-logr/logr v1.4.4
	github.com/go-logr/zapr v1.3.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/redisleader/redisleader v0.0.0-00010101000000-000000000000
	go.uber.org/zap v1.28.0
	k8s.io/klog/v2 v2.140.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
