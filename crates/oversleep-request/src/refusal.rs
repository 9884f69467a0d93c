//! Why a command line can't be executed.

/// One message that says what, where, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A text that can't be understood.
    #[error("{what}")]
    Misread {
        /// What is wrong with it.
        what: String,
        /// The text, and a line with a mark under what is wrong.
        next: Vec<String>,
    },
    /// Anything else that failed.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Refusal {
        Refusal::Usage(message.into())
    }

    /// The refusal of one machine among several.
    #[must_use]
    pub fn of(self, machine: &str) -> Refusal {
        match self {
            Refusal::Usage(message) => Refusal::Usage(format!("{machine}: {message}")),
            Refusal::Misread { what, next } => Refusal::Misread { what: format!("{machine}: {what}"), next },
            Refusal::Failed(message) => Refusal::Failed(format!("{machine}: {message}")),
        }
    }

    /// Any other failure.
    pub fn failed(message: impl Into<String>) -> Refusal {
        Refusal::Failed(message.into())
    }
}
