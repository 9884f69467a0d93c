//! Every call the laboratory makes to a real operating system, behind the platform interface of `oversleep-system`.
//!
//! Each folder is one system, and the files next to them are what systems share. Nothing outside this crate knows which
//! system it runs on. Descriptions are in `oversleep-system`; an entry here adds the call.
// `unsupported` calls little of what systems share.
#![cfg_attr(not(any(target_os = "linux", target_os = "windows", target_os = "macos")), allow(dead_code, unused))]

mod app_end;
mod cpu_list;
mod examples;
mod fn_clock;
#[cfg(test)]
mod handoff_conformance;
mod hogs;
mod library;
mod native;
mod neighbour_process;
mod processor;
mod std_clocks;
mod survey;
mod threads;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as native_platform;

#[cfg(target_os = "linux")]
pub use linux::theirs::{open_linked, open_theirs, user_of};
#[cfg(target_os = "linux")]
pub use linux::{ProcessGroup, autogroup, freezer_group, memory, process_group, splitter as switches};

#[cfg(target_os = "windows")]
mod windows;
#[cfg(target_os = "windows")]
use windows as native_platform;

#[cfg(any(test, target_os = "macos"))]
mod coalescing;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(any(test, target_os = "macos"))]
mod timebase;
#[cfg(target_os = "macos")]
use macos as native_platform;

#[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "macos")))]
mod unsupported;
#[cfg(not(any(target_os = "linux", target_os = "windows", target_os = "macos")))]
use unsupported as native_platform;

#[cfg(unix)]
mod children;
#[cfg(target_os = "linux")]
#[path = "linux/jobs.rs"]
pub mod jobs;
#[cfg(target_os = "linux")]
#[path = "linux/orphans.rs"]
mod orphans;
#[cfg(target_os = "linux")]
#[path = "linux/queued.rs"]
mod queued;
#[cfg(unix)]
#[path = "unix/readable.rs"]
mod readable;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "linux")]
#[path = "linux/witness.rs"]
mod witness;
#[cfg(unix)]
use unix::app as native_app;

#[cfg(unix)]
pub use unix::allocator;
#[cfg(unix)]
pub use unix::{group, interruption, keys, outputs, passing};

#[cfg(not(unix))]
mod app;
#[cfg(not(unix))]
use app as native_app;
#[cfg(not(unix))]
pub mod allocator;
#[cfg(not(unix))]
pub mod interruption;
#[cfg(not(unix))]
pub mod outputs;
#[cfg(not(unix))]
pub mod passing;
#[cfg(target_os = "windows")]
pub use windows::{group, kernel_trace, keys};
#[cfg(not(any(unix, target_os = "windows")))]
pub mod keys;

#[cfg(not(any(target_os = "linux", target_os = "windows")))]
mod process_end;
use std::sync::Arc;

use oversleep_system::{Platform, SharedPlatform};

#[cfg(target_os = "linux")]
use linux::process_end;
#[cfg(target_os = "windows")]
use windows::process_end;

pub use app_end::AppEnd;
pub use examples::{PROGRAM as EXAMPLE_PROGRAM, here as examples};
pub use native_app::{end_by, run as run_app, run_signalled as run_app_signalled};
pub use neighbour_process::run_if_neighbour;
pub use process_end::ProcessEnd;

/// The machine this process runs on.
pub fn here() -> SharedPlatform {
    Arc::new(native_platform::Native::new())
}

/// Ends the current waits of this process's other threads, where the system has a way. A wait that begins just afterwards
/// isn't ended, so call this again until the threads have finished.
pub fn end_waits() {
    native_platform::Native::new().end_waits();
}

/// Gives back memory that a long run doesn't need after its start, where the system doesn't do so by itself.
pub fn give_back_code() {
    // Windows trims the pages of a process that doesn't use them, and macOS counts clean pages of files apart.
    #[cfg(target_os = "linux")]
    memory::give_back_code();
}

/// Lets all threads that start from here on allocate from one heap, where each would have its own otherwise.
pub fn use_one_heap() {
    #[cfg(target_os = "linux")]
    memory::use_one_heap();
}

/// Renames a file to a name that nothing has, by a second name for it.
pub(crate) fn rename_by_link(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    use std::fs;
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links (FAT): an empty file reserves the name.
        Err(_) => fs::File::create_new(to).and_then(|_| fs::rename(from, to)),
    }
}
