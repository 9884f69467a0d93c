//! Why events can't be collected, and the remedy.

/// Why events can't be collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The system has no collector yet.
    #[error(
        "waits of other programs can be followed on Linux and Windows only; a recording can be read here: oversleep why FILE"
    )]
    System,
    /// The kernel has no type information.
    #[error(
        "this kernel has no type information (/sys/kernel/btf/vmlinux), which the collector needs to find the kernel's \
         fields. Use a kernel that was built with CONFIG_DEBUG_INFO_BTF=y: those of the large distributions are"
    )]
    NoTypes,
    /// The kernel refused.
    #[error(
        "the kernel doesn't let this process follow others: {missing}. {remedy}{}",
        command.as_ref().map(|command| format!(": {command}")).unwrap_or_default()
    )]
    Refused {
        /// What is missing.
        missing: String,
        /// What grants it.
        remedy: String,
        /// The command that does so.
        command: Option<String>,
        /// What else is to be known about that, in sentences.
        more: Vec<String>,
    },
    /// No such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// A thread is no process.
    #[error("{thread} is a thread of process {process}; follow that process: oversleep why -p {process}")]
    Thread {
        /// What was named.
        thread: u32,
        /// Its process.
        process: u32,
    },
    /// Any other error.
    #[error("the collector can't be loaded into this kernel: {0}")]
    Load(String),
}
