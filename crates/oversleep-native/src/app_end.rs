//! How a program ended.

use std::process::ExitStatus;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEnd {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl AppEnd {
    /// The exit code; as in shells, 128 plus the number of the signal.
    pub fn code(self) -> i32 {
        match self {
            AppEnd::Code(code) => code,
            AppEnd::Signal(signal) => 128 + signal,
        }
    }
}

impl From<ExitStatus> for AppEnd {
    fn from(status: ExitStatus) -> AppEnd {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return AppEnd::Signal(signal);
        }
        AppEnd::Code(status.code().unwrap_or(1))
    }
}
