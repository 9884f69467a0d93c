//! Another process as the supervisor reaches it: its registers and memory (`ptrace`), what `/proc` says of it (`status`),
//! and the parts of its files that are read (`program_file`). Also what every room needs: this system's clocks (`clock`),
//! locks (`lock`) and files in memory (`memory_file`). It knows nothing of waits, and uses no other room.

pub mod clock;
pub mod lock;
pub mod memory_file;
pub mod program_file;
pub mod ptrace;
pub mod status;
