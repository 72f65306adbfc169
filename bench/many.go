package main

import (
	"context"
	"fmt"
	"time"
)

const manyTitle = "Many elections in one process"

const manyText = `%d electors of package leader, half of them leading, for %v with timings of %v, over one
client with a pool of 20 connections, all started at once. "Lost terms" are terms that
ended, or began anew, meanwhile. CPU is user and system time, of the process and of the
Redis server next to it, divided by elapsed time: 1 is one core.`

func takeMany(ctx context.Context, b *bench) (section, error) {
	p := b.plan
	t := table{columns: []string{"", "value"}}
	text := fmt.Sprintf(manyText, p.many, p.manyFor, p.manyTiming)
	if err := b.manyElections(ctx, &t); err != nil {
		t.fail("all others", err)
	}
	return section{title: manyTitle, text: text, tables: []captioned{{table: t}}}, ctx.Err()
}

// usage is what process and server have used up to an instant.
type usage struct {
	at              time.Time
	process, server float64 // seconds of processor time
	processErr      error
}

func (b *bench) usage(ctx context.Context) (usage, error) {
	process, err := cpuTime()
	u := usage{at: time.Now(), process: process.Seconds(), processErr: err}
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := b.server.number(ctx, "cpu", field)
		if err != nil {
			return u, err
		}
		u.server += seconds
	}
	return u, nil
}

func (b *bench) manyElections(ctx context.Context, t *table) error {
	p := b.plan
	before := readFootprint()
	connected, err := b.server.number(ctx, "clients", "connected_clients")
	if err != nil {
		return err
	}
	es, err := redisleaderElectors(b.server.Addr(), p.manyTiming)
	if err != nil {
		return err
	}
	began := time.Now()
	defer es.stop()
	if err := es.start(ctx, b.freshName("many"), p.many); err != nil {
		return err
	}
	if err := es.await(ctx, p.many/2); err != nil {
		return err
	}
	t.add("until half of them led", nanoseconds(float64(time.Since(began))))
	// Until every follower has made another attempt and the start is over.
	if !pause(ctx, p.manyTiming.retry) {
		return ctx.Err()
	}
	if err := b.observeMany(ctx, t, es); err != nil {
		return err
	}
	now, err := b.server.number(ctx, "clients", "connected_clients")
	if err != nil {
		return err
	}
	f := readFootprint().since(before).per(p.many)
	t.add("Redis connections", number(now-connected))
	t.add("KiB per elector (heap + stack)", fmt.Sprintf("%s (%s + %s)",
		number((f.heap+f.stack)/kib), number(f.heap/kib), number(f.stack/kib)))
	t.add("goroutines per elector", number(f.goroutines))
	return nil
}

// observeMany observes electors of which half lead.
func (b *bench) observeMany(ctx context.Context, t *table, es *electors) error {
	terms := es.terms.Load()
	before, err := b.usage(ctx)
	if err != nil {
		return err
	}
	if !pause(ctx, b.plan.manyFor) {
		return ctx.Err()
	}
	after, err := b.usage(ctx)
	if err != nil {
		return err
	}
	lost := es.terms.Load() - terms + int64(b.plan.many/2) - es.leading.Load()
	t.add("lost terms", fmt.Sprint(lost))
	elapsed := after.at.Sub(before.at).Seconds()
	if before.processErr != nil {
		t.fail("CPU, process", before.processErr)
	} else {
		t.add("CPU, process", number((after.process-before.process)/elapsed))
	}
	t.add("CPU, Redis server", number((after.server-before.server)/elapsed))
	return nil
}
