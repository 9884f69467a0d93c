//! What only some systems have, or only some tools can show.
#![cfg(unix)]

mod devices;
mod documentation;
mod emulate;
mod emulate_32_bits;
mod emulate_calls;
mod emulate_cancelled;
mod emulate_clocks;
mod emulate_control;
mod emulate_like;
mod emulate_often;
mod emulate_preload;
mod emulate_refusals;
mod emulate_sending;
mod emulate_sockets;
mod emulate_starts;
mod emulate_timers;
mod gate;
mod keys;
mod memory;
mod places;
mod run;
mod runtime_rules;
mod runtimes;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod why_supervised;
mod workflows;
