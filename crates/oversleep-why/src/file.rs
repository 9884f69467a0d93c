//! The result file of `oversleep why`: one JSON document with its own schema, read as strictly as any other result.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use oversleep_record::Distribution;
use oversleep_record::file::{FileError, WHY_SCHEMA, document};

use crate::builder::GROUPS_MAX;
use crate::findings;
use crate::group::Group;
use crate::recording::Reader;
use crate::session::replay;
use crate::summary::{Summary, WORST};

/// The most waits in full that a file may have.
const WORST_MAX: usize = 10 * WORST;

impl Summary {
    /// Reads and checks a result file. Its findings are recomputed from the rest.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn read_from(source: &mut dyn Read) -> Result<Summary, FileError> {
        let mut summary: Summary = document(source, &[WHY_SCHEMA])?;
        match summary.fault() {
            Some(fault) => Err(FileError::Inconsistent(fault)),
            None => {
                summary.findings = findings::of(&summary);
                Ok(summary)
            }
        }
    }

    /// Reads a result file or a recording.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn of_bytes(bytes: &[u8]) -> Result<Summary, String> {
        if Reader::knows(bytes) {
            return replay(bytes).map_err(|error| error.to_string());
        }
        Summary::read_from(&mut &bytes[..]).map_err(|error| error.to_string())
    }

    /// Whether a file starts like a recording or a result of `oversleep why`.
    pub fn knows(bytes: &[u8]) -> bool {
        Reader::knows(bytes)
            || matches!(document::<Head>(&mut &bytes[..], &[WHY_SCHEMA]), Ok(head) if head.schema == WHY_SCHEMA)
    }

    /// Writes the file: one JSON document on one line, ending in a newline.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")
    }

    /// The first contradiction in the file.
    fn fault(&self) -> Option<String> {
        if self.groups.len() > 2 * GROUPS_MAX + 1 || self.worst.len() > WORST_MAX {
            return Some("it has more groups or waits than any run keeps".to_owned());
        }
        let mut keys = BTreeSet::new();
        for group in &self.groups {
            if !keys.insert(&group.key) {
                return Some(format!("two groups are {}", findings::name(&group.key)));
            }
            if let Some(fault) = of_group(group) {
                return Some(format!("{}: {fault}", findings::name(&group.key)));
            }
        }
        let wrong = self.worst.iter().find(|wait| wait.parts.sum() != wait.lateness_ns)?;
        Some(format!(
            "a wait of thread {} is {} ns late, and its parts add up to {}",
            wrong.tid,
            wrong.lateness_ns,
            wrong.parts.sum()
        ))
    }
}

#[derive(serde::Deserialize)]
struct Head {
    schema: String,
}

fn of_group(group: &Group) -> Option<String> {
    let differs = |values: &Distribution| values.count() != group.count;
    if differs(&group.lateness) || group.parts.values().any(differs) {
        return Some(format!("it has {} waits, and its distributions hold another number", group.count));
    }
    if group.attributed_count.max(group.steal_count).max(group.called_late.count()) > group.count {
        return Some("it counts more waits of one kind than waits".to_owned());
    }
    None
}
