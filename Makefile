# Everything here works on a machine with Go, make and git; what else is needed is installed by the targets that need it.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODULES := bench deploytest examples/fenced-writes examples/loggers
COUNT ?= 50
CHAOS ?= 60s
SEED ?=

.PHONY: test modules race acl stress chaos mutants bench lint build demo soak deps

## test: all tests, against real Redis servers that they start themselves
test: deps
	go test -count=1 -timeout=10m ./...

## race: the same under the race detector
race: deps
	go test -race -count=1 -timeout=20m ./...

## modules: the tests of what has a module of its own, to keep its dependencies out of the library's
modules: deps
	@for module in $(MODULES); do echo "test $$module" && go test -C $$module -count=1 -timeout=10m ./... || exit 1; done

## stress: the state machine and the lock, COUNT times, under the race detector
stress: deps
	go test -race -count=$(COUNT) -timeout=60m -skip='^TestBrowser' ./internal/... ./redislock/... ./metrics ./leader/...

## chaos: random faults for CHAOS; SEED=n repeats a schedule, an empty one draws a fresh seed and prints it first
chaos: deps
	go test -v -tags chaos -count=1 -timeout=2h -run '^TestChaos$$' ./test/e2e -chaos=$(CHAOS) -seed=$(SEED)

## mutants: breaks the library on purpose, in copies, and sees that its tests notice
mutants: deps
	go run ./test/mutants

## acl: lock and elector as the Redis user of the ACL line in docs/operating.md
acl: deps
	LEAST_PRIVILEGE=1 go test -count=1 -timeout=5m ./redislock/... ./leader

## bench: side by side with raw go-redis and other libraries; writes docs/performance.md
bench: deps
	cd bench && go run . -svg ../docs/img -md ../docs/performance.md

## lint: format, go vet, staticcheck, a tidy go.mod, shell scripts
lint:
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go vet ./...
	go vet -tags chaos ./test/...
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags chaos ./test/...
	go mod tidy -diff
	@for module in $(MODULES); do \
		echo "lint $$module" && (cd $$module && go vet ./... && go run $(STATICCHECK) ./... && go mod tidy -diff) || exit 1; done
	@for script in .ci/*; do bash -n $$script || exit 1; done

## build: all platforms the library supports
build:
	GOOS=linux go build ./...
	GOOS=darwin go build ./...
	GOOS=windows go build ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...

## demo: the examples, on an embedded Redis
demo:
	go run ./examples/leader-worker
	go run ./examples/scheduled-job
	go run -C examples/fenced-writes .

## soak: each slot of the scheduled job exactly once, while its leader is killed every second for a minute
soak:
	go run ./examples/scheduled-job -for 60s

## deps: redis-server, promtool, chromium and a C compiler, which the tests start
deps:
	@.ci/install-servers
