//! Commands that change an archive take turns, and the names of machines are kept meanwhile. Both are in one SQLite file,
//! because its lock ends with the process that holds it, on every system, however that process ends.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::StoreError;

/// The file, in the archive's folder. Spark and Trino read every file whose name doesn't begin with an underscore.
pub const NAMES: &str = "_archive.sqlite";
/// How long another command may take before this one gives up.
const TURN: Duration = Duration::from_secs(600);

/// The turn of one command; it ends when this is dropped.
#[derive(Debug)]
pub struct Turn {
    path: PathBuf,
    names: Connection,
}

fn fault(path: &Path, error: &rusqlite::Error) -> StoreError {
    let shown = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(shown),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(shown),
        Some(
            ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure,
        ) => StoreError::io(path, io::Error::other(error.to_string())),
        _ => StoreError::Names { path: shown, fault: error.to_string() },
    }
}

/// Whether a machine can have that name: lists and tables have it in a line.
fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && !name.chars().any(char::is_control)
}

impl Turn {
    /// Waits until no other command changes the archive.
    pub fn take(folder: &Path) -> Result<Turn, StoreError> {
        let path = folder.join(NAMES);
        let begin = || {
            let names = Connection::open(&path)?;
            names.busy_timeout(TURN)?;
            names.execute_batch(
                "CREATE TABLE IF NOT EXISTS machines (name TEXT PRIMARY KEY, source TEXT UNIQUE NOT NULL); BEGIN IMMEDIATE",
            )?;
            Ok(names)
        };
        let names = begin().map_err(|error| fault(&path, &error))?;
        Ok(Turn { path, names })
    }

    /// The random text that stands for a machine; a new one for a new name.
    pub fn source(&self, name: &str) -> Result<String, StoreError> {
        if !is_name(name) {
            return Err(StoreError::NoName(name.to_owned()));
        }
        let source = || {
            let known = "SELECT source FROM machines WHERE name = ?1";
            if let Some(source) = self.names.query_row(known, [name], |row| row.get(0)).optional()? {
                return Ok(source);
            }
            let source = format!("{:016x}", random());
            self.names.execute("INSERT INTO machines (name, source) VALUES (?1, ?2)", [name, &source])?;
            Ok(source)
        };
        source().map_err(|error: rusqlite::Error| fault(&self.path, &error))
    }

    /// Keeps the names so far. Call it before any row with them is in the archive: a machine never gets a second text,
    /// whenever this process ends.
    pub fn keep_names(&self) -> Result<(), StoreError> {
        self.names.execute_batch("COMMIT; BEGIN IMMEDIATE").map_err(|error| fault(&self.path, &error))
    }
}

/// A random number: the standard library seeds its hashes by the system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Source → name.
pub fn names(folder: &Path) -> Result<BTreeMap<String, String>, StoreError> {
    let path = folder.join(NAMES);
    if !path.is_file() {
        return Ok(BTreeMap::new());
    }
    let read = || {
        let names = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        names.busy_timeout(TURN)?;
        let mut all = names.prepare("SELECT source, name FROM machines")?;
        let name = |name: String| if is_name(&name) { name } else { name.escape_debug().to_string() };
        all.query_map([], |row| Ok((row.get(0)?, name(row.get(1)?))))?.collect::<rusqlite::Result<_>>()
    };
    read().map_err(|error| fault(&path, &error))
}
