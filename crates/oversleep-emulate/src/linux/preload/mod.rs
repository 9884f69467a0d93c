//! The way without stops, where nobody may trace: functions of the C library wait as the machine does. They are in a shared
//! library (`library`, written by `elf`, unwound by `frames`) of the same code as the places that wait often, in a folder
//! that nobody else may write (`folder`), and programs load it by `LD_PRELOAD`.

mod elf;
pub mod folder;
mod frames;
pub mod library;
