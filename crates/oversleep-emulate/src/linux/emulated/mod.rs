//! Brings the rooms together: a program whose waits end as the emulated machine's do.
//!
//! `front` is the process that the user started, and `supervisor` the one that traces. A tracer (`tracer`) takes each stop
//! to what answers it: a timed wait (`lead`, with `receive`, `send` and `socket_filters` for sockets) or an exec
//! (`executes`). `shared` brings together what all tracers know: `settings`, `counts`, and the states that other rooms own.
//! `calibration` measures this machine's own wake-up before the program starts.

mod calibration;
mod counts;
mod executes;
pub mod front;
mod lead;
mod receive;
mod send;
mod settings;
mod shared;
mod socket_filters;
mod supervisor;
mod tracer;
