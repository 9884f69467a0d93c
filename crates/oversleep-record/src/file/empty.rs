//! What every result begins with.

use super::{Completion, ResultFile, SCHEMA, Tool};
use crate::environment::{Environment, PlatformId};
use crate::units::Nanos;

impl ResultFile {
    /// A complete result of that command in which nothing was measured: what this version writes begins with it.
    pub fn empty(command: impl Into<String>, platform: PlatformId) -> ResultFile {
        ResultFile {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            taken_unix_s: None,
            duration_ns: Nanos::ZERO,
            completion: Completion::Complete,
            command: command.into(),
            depth: None,
            shared: None,
            name: None,
            platform,
            environment: Environment::default(),
            floor: None,
            clocks: Vec::new(),
            series: Vec::new(),
            changes: Vec::new(),
            changes_beyond: 0,
            trials: Vec::new(),
            observation: None,
            imported: None,
            findings: Vec::new(),
        }
    }
}
