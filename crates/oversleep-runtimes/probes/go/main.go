// Waits and clocks as a Go program calls them. The protocol is in ../PROTOCOL.md.
package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type record map[string]any

func emit(r record) {
	line, err := json.Marshal(r)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write(append(line, '\n'))
}

var origin = time.Now()

func now() int64 { return int64(time.Since(origin)) }

type wait struct {
	name string
	wait func(time.Duration) error
	busy bool
}

var waits = []wait{
	{"time.Sleep", func(d time.Duration) error { time.Sleep(d); return nil }, false},
	// Another goroutine runs and yields, so the scheduler looks at the timers itself instead of waiting in the kernel.
	{"time.Sleep(busy)", func(d time.Duration) error { time.Sleep(d); return nil }, true},
	{"time.Timer", func(d time.Duration) error { <-time.NewTimer(d).C; return nil }, false},
	{"time.After", func(d time.Duration) error { <-time.After(d); return nil }, false},
	{"time.Ticker", func(d time.Duration) error {
		if d <= 0 {
			return errTicker
		}
		ticker := time.NewTicker(d)
		<-ticker.C
		ticker.Stop()
		return nil
	}, false},
	{"context.WithTimeout", func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		<-ctx.Done()
		cancel()
		return nil
	}, false},
}

type refusal string

func (r refusal) Error() string { return string(r) }

const errTicker = refusal("NewTicker panics unless the interval is positive")

type clock struct {
	name string
	read func() int64
}

var clocks = []clock{
	{"time.Now", func() int64 { return time.Now().UnixNano() }},
	{"time.Since", func() int64 { return int64(time.Since(origin)) }},
}

func spin(stop *atomic.Bool) {
	for !stop.Load() {
		runtime.Gosched()
	}
}

func collections() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}

func measureWait(w wait, requested int64, n int) {
	t, d := make([]int64, n), make([]int64, n)
	var stop atomic.Bool
	if w.busy {
		go spin(&stop)
	}
	defer stop.Store(true)
	gc, cpu := collections(), processTime()
	for i := range t {
		start := now()
		if err := w.wait(time.Duration(requested)); err != nil {
			emit(record{"type": "skip", "op": w.name, "why": err.Error()})
			return
		}
		t[i], d[i] = start, now()-start
	}
	emit(record{"type": "s", "op": w.name, "requested": requested, "rounded": requested, "n": n, "unit": "ns",
		"t": t, "d": d, "cpu": processTime() - cpu, "gc": collections() - gc})
}

func measureClock(c clock, n int) {
	const reads = 1000
	d, steps := make([]int64, n), []int64{}
	for i := range d {
		start := now()
		for k := 0; k < reads; k++ {
			c.read()
		}
		d[i] = now() - start
	}
	until := now() + int64(40*time.Millisecond)
	for last := c.read(); len(steps) < 16 && now() < until; {
		next := c.read()
		if next > last {
			steps = append(steps, next-last)
		}
		last = next
	}
	emit(record{"type": "c", "op": c.name, "n": n, "reads": reads, "d": d, "step": steps})
}

func run(token string) {
	parts := strings.Split(token, "@")
	if len(parts) != 3 {
		return
	}
	requested, _ := strconv.ParseInt(parts[1], 10, 64)
	n, _ := strconv.Atoi(parts[2])
	for _, w := range waits {
		if w.name == parts[0] {
			measureWait(w, requested, n)
			return
		}
	}
	for _, c := range clocks {
		if c.name == parts[0] {
			measureClock(c, n)
			return
		}
	}
	emit(record{"type": "skip", "op": parts[0], "why": "Go has no such call here"})
}

func main() {
	for i := 0; i < 20; i++ {
		time.Sleep(100 * time.Microsecond)
	}
	emit(record{"type": "hello", "proto": 1, "runtime": "go", "version": strings.TrimPrefix(runtime.Version(), "go"),
		"clock": "time.Since", "pid": os.Getpid(), "now": now()})
	for _, token := range os.Args[1:] {
		if token != "list" {
			run(token)
			continue
		}
		for _, w := range waits {
			emit(record{"type": "op", "op": w.name, "kind": "wait"})
		}
		for _, c := range clocks {
			emit(record{"type": "op", "op": c.name, "kind": "clock"})
		}
	}
	emit(record{"type": "end", "now": now()})
}
