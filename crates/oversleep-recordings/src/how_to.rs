//! How to record what `oversleep why` reads, with what is installed elsewhere: commands and configurations to paste.

/// Where, or with what, is recorded.
#[derive(Debug)]
pub struct Way {
    /// As it is named on the command line.
    pub name: &'static str,
    /// What to paste.
    pub text: &'static str,
}

/// Every way.
pub const WAYS: &[Way] = &[
    Way { name: "linux", text: include_str!("how_to/linux.txt") },
    Way { name: "android", text: include_str!("how_to/android.txt") },
    Way { name: "trace-cmd", text: include_str!("how_to/trace-cmd.txt") },
];
