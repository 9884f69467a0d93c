//go:build unix

package main

import (
	"syscall"
	"time"
)

func init() {
	waits = append(waits, wait{"syscall.Nanosleep", func(d time.Duration) error {
		t := syscall.NsecToTimespec(int64(d))
		return syscall.Nanosleep(&t, nil)
	}, false})
}

func processTime() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
