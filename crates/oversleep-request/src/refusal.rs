//! Why a command line can't be executed.

/// One message that says what, where, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Anything else that failed.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Refusal {
        Refusal::Usage(message.into())
    }

    /// Any other failure.
    pub fn failed(message: impl Into<String>) -> Refusal {
        Refusal::Failed(message.into())
    }
}
