//! What this process can see.

use oversleep_record::Unavailable;

use crate::survey::Entry;
use crate::windows::interrupts::Interrupts;
use crate::windows::{counters, os, processor_state, processors};

const TRACE: &str = "as an administrator, record a kernel trace by Event Tracing for Windows";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "other programs' CPU time",
        gives: "shows how busy the machine was apart from this process",
        check: || match counters::busy() {
            Some(_) => Ok("GetSystemTimes".to_owned()),
            None => Err(os::failed("GetSystemTimes")),
        },
    },
    Entry {
        name: "own CPU time",
        gives: "shows what a wait or a spin costs",
        check: || match (counters::cycles(), os::thread_cpu_time()) {
            (Some(_), _) => Ok("QueryThreadCycleTime".to_owned()),
            (None, Some(_)) => Ok("GetThreadTimes, in whole ticks".to_owned()),
            (None, None) => Err(os::failed("GetThreadTimes")),
        },
    },
    Entry {
        name: "switch-in times",
        gives: "splits lateness into timer, run queue and return",
        check: || Err(Unavailable::not_permitted("reading a thread's switches", TRACE)),
    },
    Entry {
        name: "interrupts",
        gives: "shows what a timer resolution costs the machine",
        check: || match Interrupts::default().total() {
            Some(_) => Ok("counted per processor, all kinds together".to_owned()),
            None => Err(Unavailable::missing("a count of interrupts")),
        },
    },
    Entry {
        name: "clock rate while measuring",
        gives: "detects a processor that was slowed down because of heat or to save power",
        check: || processor_state::rates().map(|_| "CallNtPowerInformation, the rate that Windows chose".to_owned()),
    },
    Entry {
        name: "temperature",
        gives: "shows how close the processor was to its temperature limit",
        check: || Err(processor_state::no_temperature()),
    },
    Entry {
        name: "kinds of cores",
        gives: "distinguishes performance cores from efficiency cores",
        check: || processors::cores().map(|cores| format!("Windows lists {} cores with their classes", cores.len())),
    },
];
