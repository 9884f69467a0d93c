//! The processes that this one started itself. The end of a program's group ends everything else that became its child.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Their numbers.
#[derive(Debug)]
pub struct Children {
    /// Leaders of groups, until somebody has waited for them.
    pub leaders: Vec<u32>,
    others: Vec<u32>,
}

impl Children {
    /// Whether this process started that one itself.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux hands orphans over"))]
    pub fn contains(&self, process: u32) -> bool {
        self.leaders.contains(&process) || self.others.contains(&process)
    }
}

static CHILDREN: Mutex<Children> = Mutex::new(Children { leaders: Vec::new(), others: Vec::new() });

/// All of them. Nothing is started or ended while the caller has them.
pub fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process that the end of a group leaves alone until [`forget`].
///
/// # Errors
/// If it can't be started.
pub fn spawn_other(command: &mut Command) -> io::Result<Child> {
    let mut children = children();
    let child = command.spawn()?;
    children.others.push(child.id());
    Ok(child)
}

/// That process has ended.
pub fn forget(other: u32) {
    children().others.retain(|&one| one != other);
}
