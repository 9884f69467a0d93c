//! The CPUs the calling thread may run on.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use super::{NotSend, already, denied, not_a_setting, wrong_kind};
use crate::platform::interface::{Restore, Scope, Tunable, TunableInfo};
use crate::platform::linux::os;

pub(super) struct Pin;

static INFO: TunableInfo = TunableInfo {
    name: "pin",
    call: "sched_setaffinity",
    doc: "Keeps this thread on the given CPUs: no migration, one core's caches and idle states, and no escape from \
          what else runs there.",
    scope: Scope::Thread,
    sets_resolution: false,
    since: "2.6",
    page: "https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html",
};

const RIGHT: &str = "one or more CPU numbers";
const ALLOW: &str = "allow the call in the sandbox's filter";

impl Tunable for Pin {
    fn info(&self) -> &TunableInfo {
        &INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        match os::affinity() {
            Ok(cpus) => Ok(Setting::Cpus(cpus)),
            Err(error) => Err(os::refused("sched_getaffinity", &error, ALLOW)),
        }
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        let asked = understood(setting).ok_or_else(|| not_a_setting(INFO.name, setting, RIGHT))?;
        // Without the mask nothing is known to be wrong; applying will tell.
        let Ok(allowed) = os::affinity() else { return Ok(()) };
        let lacking: Vec<u32> = asked.into_iter().filter(|cpu| !allowed.contains(cpu)).collect();
        if lacking.is_empty() { Ok(()) } else { Err(not_here(&lacking, &allowed).to_string()) }
    }

    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        let Some(asked) = understood(setting) else { return wrong_kind(INFO.name, setting, RIGHT) };
        let was = match os::affinity() {
            Ok(was) => was,
            Err(error) => return denied(os::refused("sched_getaffinity", &error, ALLOW)),
        };
        if was == asked {
            return already(Setting::Cpus(was));
        }
        let result = os::set_affinity(&asked);
        let guard = PinGuard { was, _thread: NotSend::default() };
        if let Err(error) = result {
            return match error.raw_os_error() {
                Some(libc::EINVAL) => denied(not_here(&asked, &guard.was)),
                _ => denied(os::refused(INFO.call, &error, ALLOW)),
            };
        }
        // The kernel drops CPUs that don't exist or aren't allowed without a word.
        match os::affinity() {
            Ok(now) if now == asked => {
                let outcome = Outcome::Applied { was: Some(Setting::Cpus(guard.was.clone())), now: Setting::Cpus(now) };
                (outcome, Some(Box::new(guard)))
            }
            Ok(now) => {
                let lacking: Vec<u32> = asked.into_iter().filter(|cpu| !now.contains(cpu)).collect();
                denied(not_here(&lacking, &guard.was))
            }
            Err(error) => denied(Unavailable::failed("sched_getaffinity", error)),
        }
    }
}

fn not_here(lacking: &[u32], allowed: &[u32]) -> Unavailable {
    let lacking = Setting::Cpus(lacking.to_vec());
    let allowed = Setting::Cpus(allowed.to_vec());
    Unavailable::no_hardware(format!("CPU {lacking} that this process may use (it may use {allowed})"))
}

fn understood(setting: &Setting) -> Option<Vec<u32>> {
    let Setting::Cpus(cpus) = setting else { return None };
    let mut asked = cpus.clone();
    asked.sort_unstable();
    asked.dedup();
    (!asked.is_empty()).then_some(asked)
}

struct PinGuard {
    was: Vec<u32>,
    _thread: NotSend,
}

impl Restore for PinGuard {}

impl Drop for PinGuard {
    fn drop(&mut self) {
        // What can be set can be set back; there is nobody to tell otherwise.
        let _ = os::set_affinity(&self.was);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_to_one_cpu_and_back() {
        std::thread::spawn(|| {
            let Ok(before) = os::affinity() else { return };
            let last = Setting::Cpus(vec![*before.last().expect("a CPU")]);
            let (outcome, guard) = Pin.apply(&last);
            assert!(outcome.holds(), "{outcome:?}");
            assert_eq!(Pin.current(), Ok(last));
            drop(guard);
            assert_eq!(os::affinity().expect("affinity"), before);
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn refuses_no_cpu_and_cpus_that_are_not_there_and_changes_nothing() {
        std::thread::spawn(|| {
            let Ok(before) = os::affinity() else { return };
            let partly = vec![before[0], 8191];
            for cpus in [vec![], vec![8191], vec![u32::MAX], partly] {
                let (outcome, guard) = Pin.apply(&Setting::Cpus(cpus));
                assert!(!outcome.holds() && guard.is_none(), "{outcome:?}");
                assert_eq!(os::affinity().expect("affinity"), before);
            }
        })
        .join()
        .expect("no panic");
    }
}
