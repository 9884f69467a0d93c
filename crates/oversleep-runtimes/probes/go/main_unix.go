//go:build unix

package main

import (
	"syscall"
	"time"
)

func init() {
	waits = append(waits, wait{"syscall.Nanosleep", func(d time.Duration) error {
		t := syscall.NsecToTimespec(int64(d))
		err := syscall.Nanosleep(&t, &t)
		// The scheduler's own signals interrupt it; t is what is left then.
		for err == syscall.EINTR {
			err = syscall.Nanosleep(&t, &t)
		}
		return err
	}, false})
}

func processTime() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
