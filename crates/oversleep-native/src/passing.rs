//! Passing signals on to a program, on systems without signals.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// Passes nothing on.
#[derive(Debug)]
pub struct Passing;

impl Passing {
    /// Takes nothing.
    pub fn begin() -> Passing {
        Passing
    }

    /// Starts a program by `spawn`.
    ///
    /// # Errors
    /// It can't be started.
    pub fn spawn(
        &mut self,
        command: &mut Command,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Child> {
        spawn(command)
    }

    /// Waits until the program ends.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&self, program: &mut Child) -> io::Result<ExitStatus> {
        program.wait()
    }
}
