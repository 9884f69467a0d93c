//! What may be seen.

use oversleep_record::Unavailable;

use crate::survey::Entry;
use crate::windows::interrupts::Interrupts;
use crate::windows::{counters, os, processor_state, processors};

const TRACE: &str = "an administrator: a kernel trace (Event Tracing for Windows)";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "other programs' CPU time",
        gives: "how busy the machine was apart from this process",
        look: || match counters::busy() {
            Some(_) => Ok("GetSystemTimes tells it".to_owned()),
            None => Err(os::failed("GetSystemTimes")),
        },
    },
    Entry {
        name: "own CPU time",
        gives: "what a wait or a spin costs",
        look: || match (counters::cycles(), os::thread_cpu_time()) {
            (Some(_), _) => Ok("QueryThreadCycleTime counts".to_owned()),
            (None, Some(_)) => Ok("GetThreadTimes counts, by whole ticks of the clock interrupt".to_owned()),
            (None, None) => Err(os::failed("GetThreadTimes")),
        },
    },
    Entry {
        name: "switch-in times",
        gives: "splits lateness into timer, run queue and return",
        look: || Err(Unavailable::not_permitted("seeing a thread's switches", TRACE)),
    },
    Entry {
        name: "interrupts",
        gives: "what a timer resolution costs the machine",
        look: || match Interrupts::default().total() {
            Some(_) => Ok("counted for each processor, of every kind together".to_owned()),
            None => Err(Unavailable::missing("a count of interrupts")),
        },
    },
    Entry {
        name: "clock rate while measuring",
        gives: "tells a processor that was slowed down, for heat or to save power",
        look: || processor_state::rates().map(|_| "CallNtPowerInformation tells what Windows chose".to_owned()),
    },
    Entry {
        name: "temperature",
        gives: "tells how close to its limit the processor was",
        look: || Err(Unavailable::not_permitted("reading the processor's temperature", "an administrator: a driver")),
    },
    Entry {
        name: "kinds of cores",
        gives: "tells fast cores from thrifty ones",
        look: || processors::cores().map(|cores| format!("{} cores and their classes are listed", cores.len())),
    },
];
