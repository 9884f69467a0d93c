// Follows timed waits of chosen processes through the kernel: one fixed-size event for each step of a wait.
//
// It only filters and copies. What the events mean is decided by oversleep-why, in Rust, from a stream that can be
// recorded. The layout of `event` and the kinds are those of that crate's `event.rs`; the other records are read by
// `src/linux/whole.rs` and `src/linux/counters.rs`.
#include "kernel.h"
#include "why/layout.h"
#include "why/send.h"
#include "why/tasks.h"
#include "why/request.h"
#include "why/between.h"
#include "why/calls.h"
#include "why/timers.h"
#include "why/scheduler.h"
#include "why/interrupts.h"
#include "why/signals.h"
#include "why/processes.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
