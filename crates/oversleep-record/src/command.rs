//! Names of the commands that measure.

use std::fmt;

use crate::ResultFile;

/// Declares every command once.
macro_rules! commands {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal;)*) => {
        /// A command that measures. A file may name a command of a later version; that has no variant here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CommandName {
            $($(#[doc = $doc])* $variant,)*
        }

        impl CommandName {
            /// All commands.
            pub const ALL: &[CommandName] = &[$(CommandName::$variant),*];

            /// The name as it is typed, and as files have it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(CommandName::$variant => $name,)*
                }
            }
        }
    };
}

commands! {
    /// Measures everything.
    Check "check";
    /// Measures clocks.
    Clocks "clocks";
    /// Measures waits.
    Waits "waits";
    /// Measures fork-joins.
    ForkJoin "forkjoin";
    /// Measures hand-offs.
    Handoff "handoff";
    /// Measures idle strategies.
    Idle "idle";
    /// Measures waits at each setting of the timer resolution.
    ResolutionSweep "resolution sweep";
    /// Measures how the settings of other processes affect this one.
    ResolutionNeighbours "resolution neighbours";
    /// Watches the timer resolution.
    ResolutionWatch "resolution watch";
    /// Measures the waits and clocks of language runtimes.
    Runtimes "runtimes";
    /// Answers a question.
    Ask "ask";
    /// Samples waits while people look on.
    Watch "watch";
    /// Samples waits for monitoring.
    Serve "serve";
    /// Follows the waits of programs.
    Why "why";
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ResultFile {
    /// Whether this command wrote the result.
    pub fn is_from(&self, command: CommandName) -> bool {
        self.command == command.as_str()
    }
}
