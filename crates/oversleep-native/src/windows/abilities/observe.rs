//! What this process can see.

use oversleep_record::Unavailable;

use crate::survey::{Entry, abilities};
use crate::windows::interrupts::Interrupts;
use crate::windows::{counters, os, processor_state, processors};

const TRACE: &str = "as an administrator, record a kernel trace by Event Tracing for Windows";

pub(super) const ENTRIES: &[Entry] = abilities! {
    "other programs' CPU time": "shows how busy the machine was apart from this process" => || match counters::busy() {
        Some(_) => Ok("GetSystemTimes".to_owned()),
        None => Err(os::failed("GetSystemTimes")),
    },
    "own CPU time": "shows what a wait or a spin costs" => || match (counters::cycles(), os::thread_cpu_time()) {
        (Some(_), _) => Ok("QueryThreadCycleTime".to_owned()),
        (None, Some(_)) => Ok("GetThreadTimes, in whole ticks".to_owned()),
        (None, None) => Err(os::failed("GetThreadTimes")),
    },
    "switch-in times": "splits lateness into timer, run queue and return" =>
        || Err(Unavailable::not_permitted("reading a thread's switches", TRACE)),
    "interrupts": "shows what a timer resolution costs the machine" => || match Interrupts::default().total() {
        Some(_) => Ok("counted per processor, all kinds together".to_owned()),
        None => Err(Unavailable::missing("a count of interrupts")),
    },
    "clock rate while measuring": "detects a processor that was slowed down because of heat or to save power" =>
        || processor_state::rates().map(|_| "CallNtPowerInformation, the rate that Windows chose".to_owned()),
    "temperature": "shows how close the processor was to its temperature limit" =>
        || Err(processor_state::no_temperature()),
    "kinds of cores": "distinguishes performance cores from efficiency cores" =>
        || processors::cores().map(|cores| format!("Windows lists {} cores with their classes", cores.len())),
};
