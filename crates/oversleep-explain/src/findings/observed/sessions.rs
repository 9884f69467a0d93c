//! Sessions and control groups that share the CPUs as a whole, and how tasks of others give way.

use oversleep_record::ResultFile;
use oversleep_record::observed::{Blame, Named};

use super::real_time::FAIR;
use crate::observed::process_of;
use crate::read::is_recording;

/// What is known of those who ran. A task stands for all of its name.
pub(super) fn neighbours_of<'a>(file: &'a ResultFile, blame: &Blame) -> impl Iterator<Item = &'a Named> {
    let all = file.observation.iter().flat_map(|observation| &observation.neighbours);
    all.filter(|other| other.tgid == blame.tgid || other.name == blame.name)
}

/// Where a task is that shares the CPUs with the session of other threads as a whole: neither side's nice value nor
/// `SCHED_IDLE` then counts for the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// In another session, of which the kernel makes a group (autogroup).
    Session,
    /// In a control group, while these threads are in none.
    Group,
}

impl Apart {
    /// `None` where one side isn't known.
    pub fn of(file: &ResultFile, tgid: u32, blame: &Blame) -> Option<Apart> {
        let session = process_of(file, tgid)?.autogroup.filter(|_| blame.prio >= FAIR)?;
        let apart = |other: &Named| match other.autogroup {
            Some(of) => (of.id != session.id).then_some(Apart::Session),
            None => other.cgroup.as_ref().filter(|path| *path != "/").map(|_| Apart::Group),
        };
        let all: Option<Vec<Apart>> = neighbours_of(file, blame).map(apart).collect();
        all?.first().copied()
    }

    /// What ranks a task only there.
    pub fn within(self) -> &'static str {
        match self {
            Apart::Session => "session (autogroup)",
            Apart::Group => "control group",
        }
    }
}

/// How a task is made to go last beside these threads. A nice value ranks it only among those of its own session or group.
pub(super) fn go_last(file: &ResultFile, tgid: u32, blame: &Blame) -> String {
    let name = &blame.name;
    // The ids of a recording of the past may be those of others.
    let ids = if is_recording(file) { (0, 0) } else { (blame.tgid, blame.tid) };
    match (Apart::of(file, tgid, blame), ids.0, ids.1) {
        (None, 0, 0) if is_recording(file) => format!("let {name} go last (renice -n 19)"),
        (Some(Apart::Session), 0, _) => {
            format!("let the whole session of {name} go last: echo 19 > /proc/PID/autogroup")
        }
        (Some(Apart::Session), other, _) => {
            format!("let the whole session of {name} go last: echo 19 > /proc/{other}/autogroup")
        }
        (Some(Apart::Group), ..) => format!("give the control group of {name} less cpu.weight"),
        (None, 0, 0) => format!("let {name} go last: renice -n 19 -p PID"),
        (None, 0, tid) => format!("let {name} go last: renice -n 19 -p {tid}"),
        // Each thread has a nice value of its own.
        (None, other, _) => format!("let {name} go last: renice -n 19 -p $(ls /proc/{other}/task)"),
    }
}
