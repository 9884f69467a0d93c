//! Names of processes: a trace has their command lines, and its events have what the kernel calls their first threads.

use oversleep_why::event::Name;

use crate::linux::facts::{KEPT_MAX, Map};
use crate::linux::point::Task;

/// The longest name that the kernel has of a thread.
const NAME_MAX: usize = 15;
/// How much of a command line is kept.
const COMMAND_MAX: usize = 256;

/// Command lines of processes whose kernel's name isn't known.
#[derive(Debug, Default)]
pub struct Commands(Map<u32, Vec<u8>>);

impl Commands {
    pub fn add(&mut self, tid: u32, command: &[u8]) {
        if self.0.len() < KEPT_MAX {
            self.0.insert(tid, command[..command.len().min(COMMAND_MAX)].to_vec());
        }
    }

    /// A process whose first thread this is, and its name: it is a piece of the command line. Another one says what the
    /// thread does, and not which program it is of.
    pub fn name_of(&mut self, task: &Task) -> Option<(u32, Name)> {
        let command = self.0.get(&task.tid)?;
        let name = task.name.split(|&byte| byte == 0).next().filter(|name| !name.is_empty())?;
        command.windows(name.len()).any(|piece| piece == name).then_some(())?;
        self.0.remove(&task.tid);
        Some((task.tid, task.name))
    }
}

/// The name of a command line's program. Only a path has folders: `ksoftirqd/2` is a name. What tells names of packages and
/// services apart is at their end, which is also what Android's kernel keeps of a package.
pub fn short(called: &[u8]) -> &[u8] {
    let is_path = called.starts_with(b"/");
    let called = called.rsplit(|&byte| is_path && byte == b'/').next().unwrap_or_default();
    let is_of_kernel = called.contains(&b'/');
    let from = if called.contains(&b'.') && !is_of_kernel { called.len().saturating_sub(NAME_MAX) } else { 0 };
    &called[from..]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{As, bytes, number, recorded, trace_of};
    use super::super::{FORMAT, What};
    use crate::replay;

    /// Android's kernel keeps the middle of a service's name, and the end of a package's.
    #[test]
    fn a_process_has_one_name() {
        let all = recorded();
        let is_loop = |what: &What| matches!(what, What::Switch { to, .. } if to.name.starts_with(b"v-abs\0"));
        let first = all.iter().find(|point| is_loop(&point.what)).unwrap();
        let What::Switch { to, .. } = first.what else { unreachable!() };
        let program = |command: &str| {
            let process = [number(1, u64::from(to.tid)), bytes(3, command.as_bytes())].concat();
            let tree = bytes(1, &bytes(2, &bytes(1, &process)));
            let trace = [trace_of(&all, As::Messages, false, None, 1), tree].concat();
            let file = replay(&FORMAT, &&trace[..]).unwrap();
            let threads: Vec<_> = file.series.iter().filter_map(oversleep_record::Identity::of).collect();
            threads.into_iter().find(|of| of.thread == "v-abs").map(|of| of.program.clone())
        };
        let is = |name: &str| Some(name.into());
        assert_eq!(program("/vendor/bin/hw/android.hardware.v-abs.composer@2.3-service"), is("v-abs"));
        assert_eq!(program("org.example.v-abs"), is("v-abs"));
        assert_eq!(program("/system/bin/other"), is("other"), "its first thread has a name of its own");
    }
}
