//! Scheduling policy, real-time priority and nice value of the calling thread.

use std::io;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::linux::os;
use crate::native::tunables::{Applied, Entry, already, changed, undo, word};

pub(super) struct PolicyTunable;

/// How to allow real-time policies, for messages.
pub const ALLOW_REAL_TIME: &str = "`ulimit -r 99`, granted by a line like `USER - rtprio 99` in \
    /etc/security/limits.d/99-rtprio.conf and a new login; or `sudo setcap cap_sys_nice+ep $(command -v oversleep)`; \
    in a container `--cap-add SYS_NICE --ulimit rtprio=99`";
/// How to allow lower nice values, for messages.
pub const ALLOW_NICE: &str = "a line like `USER - nice -20` in /etc/security/limits.d/99-nice.conf and a new login; or \
    `sudo setcap cap_sys_nice+ep $(command -v oversleep)`; in a container `--cap-add SYS_NICE`";
/// What to check where the privilege is there, for messages.
pub const PRIVILEGED_BUT_REFUSED: &str = "CAP_SYS_NICE is present, so the cgroup has no real-time budget \
    (write one to cpu.rt_runtime_us) or a sandbox refuses the call";

/// `struct sched_attr` of the first version of the call.
/// <https://man7.org/linux/man-pages/man2/sched_setattr.2.html>
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// The parameters of the calling thread.
pub fn get() -> io::Result<SchedAttr> {
    let mut attr = SchedAttr::default();
    let size = size_of::<SchedAttr>() as u32;
    // SAFETY: the kernel writes at most `size` bytes; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0_i64, &raw mut attr, size, 0_u32) };
    if result == 0 { Ok(attr) } else { Err(io::Error::last_os_error()) }
}

fn set(mut attr: SchedAttr) -> io::Result<()> {
    attr.size = size_of::<SchedAttr>() as u32;
    // SAFETY: `attr` has the layout and size it states; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0_i64, &raw const attr, 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts the calling thread under a real-time policy, for an attempt on a thread that ends.
pub fn try_real_time() -> io::Result<()> {
    set(SchedAttr { policy: libc::SCHED_FIFO as u32, priority: 1, ..SchedAttr::default() })
}

/// Takes the calling thread out of a real-time policy that it inherited, which is always allowed.
pub fn leave_real_time() {
    if get().is_ok_and(|attr| is_real_time(attr.policy)) {
        let _ = set(SchedAttr { policy: libc::SCHED_OTHER as u32, ..SchedAttr::default() });
    }
}

fn is_real_time(policy: u32) -> bool {
    [libc::SCHED_FIFO, libc::SCHED_RR, libc::SCHED_DEADLINE].contains(&(policy as i32))
}

impl SchedAttr {
    /// The attributes as a setting.
    pub fn setting(&self) -> Setting {
        let (policy, priority) = match self.policy as i32 {
            libc::SCHED_OTHER => ("other", self.nice),
            libc::SCHED_BATCH => ("batch", self.nice),
            libc::SCHED_IDLE => ("idle", 0),
            libc::SCHED_FIFO => ("fifo", self.priority as i32),
            libc::SCHED_RR => ("rr", self.priority as i32),
            libc::SCHED_DEADLINE => ("deadline", 0),
            _ => ("unnamed", self.policy as i32),
        };
        word(policy, priority)
    }

    /// The nice value.
    pub fn nice(&self) -> i32 {
        self.nice
    }
}

/// The attributes for a policy, or `None` for one that the kernel doesn't know.
fn attributes(policy: &str, number: i32) -> Option<SchedAttr> {
    let attr = |policy: i32| SchedAttr { policy: policy as u32, ..SchedAttr::default() };
    let real_time = |policy| SchedAttr { priority: number as u32, ..attr(policy) };
    match policy {
        "other" => Some(SchedAttr { nice: number, ..attr(libc::SCHED_OTHER) }),
        "batch" => Some(SchedAttr { nice: number, ..attr(libc::SCHED_BATCH) }),
        "idle" => Some(attr(libc::SCHED_IDLE)),
        "fifo" => Some(real_time(libc::SCHED_FIFO)),
        "rr" => Some(real_time(libc::SCHED_RR)),
        _ => None,
    }
}

fn explain(requested: &Setting, real_time: bool, error: &io::Error) -> Unavailable {
    let allow = match (os::has_capability(os::capability::SYS_NICE), real_time) {
        (Some(true), _) => PRIVILEGED_BUT_REFUSED,
        (_, true) => ALLOW_REAL_TIME,
        (_, false) => ALLOW_NICE,
    };
    os::refused(&format!("sched_setattr({requested})"), error, allow)
}

fn unreadable(error: io::Error) -> Unavailable {
    os::refused("sched_getattr", &error, "allow the call in the sandbox's filter")
}

impl Entry for PolicyTunable {
    type Request = SchedAttr;

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "policy");

    fn parse(setting: &Setting) -> Option<SchedAttr> {
        let (policy, number) = Self::INFO.word(setting)?;
        attributes(policy, number)
    }

    fn read() -> Result<Setting, Unavailable> {
        get().map(|attr| attr.setting()).map_err(unreadable)
    }

    fn compared() -> Vec<Setting> {
        [("other", 0), ("other", 5), ("batch", 0), ("idle", 0), ("fifo", 1), ("rr", 1)]
            .map(|(policy, priority)| word(policy, priority))
            .to_vec()
    }

    fn change(attr: SchedAttr, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = get().map_err(unreadable)?;
        if was.setting() == *setting {
            return Ok(already(setting.clone()));
        }
        set(attr).map_err(|error| explain(setting, is_real_time(attr.policy), &error))?;
        // An unprivileged thread may be refused the way back, as the description says; it ends soon.
        let guard = undo(move || _ = set(was));
        match get() {
            Ok(now) if now.setting() == *setting => Ok(changed(was.setting(), now.setting(), guard)),
            Ok(now) => {
                Err(Unavailable::failed(Self::INFO.call, format!("the policy became {} instead", now.setting())))
            }
            Err(error) => Err(Unavailable::failed("sched_getattr", error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn knows_every_policy_and_its_range() {
        for info in PolicyTunable::INFO.words {
            for number in [info.numbers.0, info.numbers.1] {
                let attr = PolicyTunable::parse(&word(info.name, number)).expect("in range");
                assert_eq!(attr.setting(), word(info.name, number));
            }
            assert_eq!(PolicyTunable::parse(&word(info.name, info.numbers.0 - 1)), None, "{}", info.name);
            assert_eq!(PolicyTunable::parse(&word(info.name, info.numbers.1 + 1)), None, "{}", info.name);
        }
        assert_eq!(PolicyTunable::parse(&word("realtime", 1)), None);
        assert_eq!(size_of::<SchedAttr>(), 48);
    }

    #[test]
    fn every_outcome_leaves_the_thread_as_found_or_says_what_holds() {
        for requested in [word("other", 5), word("batch", 0), word("idle", 0), word("fifo", 1), word("rr", 99)] {
            std::thread::spawn(move || {
                let before = match Of(PolicyTunable).current() {
                    Ok(before) => before,
                    Err(why) => return oversleep_testing::skip(why),
                };
                let (outcome, guard) = Of(PolicyTunable).apply(&requested);
                match outcome {
                    Outcome::Applied { was, now } => {
                        assert_eq!((was, now), (Some(before.clone()), requested.clone()));
                        assert_eq!(Of(PolicyTunable).current(), Ok(requested));
                        drop(guard);
                        if os::has_capability(os::capability::SYS_NICE) == Some(true) {
                            assert_eq!(Of(PolicyTunable).current(), Ok(before));
                        }
                    }
                    Outcome::AlreadySo { is } => assert_eq!(is, before),
                    Outcome::Denied { .. } => {
                        assert!(guard.is_none());
                        assert_eq!(Of(PolicyTunable).current(), Ok(before));
                    }
                }
            })
            .join()
            .expect("no panic");
        }
    }

    #[test]
    fn refuses_what_is_out_of_range_with_what_is_right() {
        let (outcome, _) = Of(PolicyTunable).apply(&word("fifo", 100));
        let Outcome::Denied { why } = outcome else { panic!("taken") };
        assert!(why.to_string().contains("priority 1 to 99"), "{why}");
    }
}
