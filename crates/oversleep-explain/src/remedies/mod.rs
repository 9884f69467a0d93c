//! The remedies, by who can apply them. An entry says itself whether and how it is measured. The findings that it helps
//! with name it, so there is no list of them here.

pub(crate) mod linux;
pub(crate) mod machine;
pub(crate) mod macos;
pub(crate) mod observed;
pub(crate) mod program;
pub(crate) mod runtimes;
pub(crate) mod windows;

/// Why a change of code is not tried.
const CHANGES_CODE: &str = "it changes the program's code";
/// Why a change of the whole machine is not tried.
const NEEDS_ROOT: &str = "it changes the whole machine and needs root";
/// Why a change outside this machine is not tried.
const OUTSIDE: &str = "it can only be done outside this machine";
