//! The CPUs that the calling thread may run on.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_record::words::ranges;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::linux::os;
use crate::native::tunables::{Applied, Entry, already, changed, cpus, undo};

pub(super) struct Pin;

const ALLOW: &str = "allow the call in the sandbox's filter";

impl Entry for Pin {
    type Request = Vec<u32>;

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "pin");

    fn parse(setting: &Setting) -> Option<Vec<u32>> {
        cpus(setting)
    }

    fn check(request: &Vec<u32>) -> Result<(), Unavailable> {
        // Where that can't be tried, only the change shows whether it is allowed.
        let Some(allowed) = usable() else { return Ok(()) };
        let lacking = not_among(request, &allowed);
        if lacking.is_empty() { Ok(()) } else { Err(not_here(&lacking, &allowed)) }
    }

    fn read() -> Result<Setting, Unavailable> {
        os::affinity().map(Setting::Cpus).map_err(unreadable)
    }

    fn change(requested: Vec<u32>, _: &Setting) -> Result<Applied, Unavailable> {
        let was = os::affinity().map_err(unreadable)?;
        if was == requested {
            return Ok(already(Setting::Cpus(was)));
        }
        let result = os::set_affinity(&requested);
        let before = was.clone();
        // What was set can be set back. A failure has nobody to report to.
        let guard = undo(move || _ = os::set_affinity(&before));
        result.map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => not_here(&requested, &usable().unwrap_or_else(|| was.clone())),
            _ => os::refused(Self::INFO.call, &error, ALLOW),
        })?;
        // The kernel silently drops CPUs that don't exist or aren't allowed.
        match os::affinity() {
            Ok(now) if now == requested => Ok(changed(Setting::Cpus(was), Setting::Cpus(now), guard)),
            Ok(now) => Err(not_here(&not_among(&requested, &now), &was)),
            Err(error) => Err(Unavailable::failed("sched_getaffinity", error)),
        }
    }
}

/// The CPUs that the kernel grants to a temporary thread that requests all. The mask of a thread may have fewer: `isolcpus=`
/// takes CPUs out of every mask, and a thread may put them back. `None` where masks can't be read or set.
fn usable() -> Option<Vec<u32>> {
    let all = || {
        os::set_affinity(&(0..os::MASK_CPUS as u32).collect::<Vec<_>>()).ok()?;
        os::affinity().ok()
    };
    std::thread::Builder::new().name("try".to_owned()).spawn(all).ok()?.join().ok()?
}

fn unreadable(error: std::io::Error) -> Unavailable {
    os::refused("sched_getaffinity", &error, ALLOW)
}

fn not_among(requested: &[u32], allowed: &[u32]) -> Vec<u32> {
    requested.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect()
}

fn not_here(lacking: &[u32], allowed: &[u32]) -> Unavailable {
    let (lacking, allowed) = (ranges(lacking), ranges(allowed));
    Unavailable::no_hardware(format!("CPU {lacking} among those that this process may use ({allowed})"))
}

#[cfg(test)]
mod tests {
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn pins_to_one_cpu_and_back() {
        std::thread::spawn(|| {
            let before = match os::affinity() {
                Ok(before) => before,
                Err(why) => return oversleep_testing::skip(why),
            };
            let last = Setting::Cpus(vec![*before.last().expect("a CPU")]);
            let (outcome, guard) = Of(Pin).apply(&last);
            assert!(outcome.holds(), "{outcome:?}");
            assert_eq!(Of(Pin).current(), Ok(last));
            drop(guard);
            assert_eq!(os::affinity().expect("affinity"), before);
        })
        .join()
        .expect("no panic");
    }

    /// As where `isolcpus=` took CPUs out of every mask.
    #[test]
    fn a_cpu_outside_the_mask_can_be_had_if_the_kernel_grants_it() {
        std::thread::spawn(|| {
            let before = match os::affinity() {
                Ok(before) => before,
                Err(why) => return oversleep_testing::skip(why),
            };
            let last = vec![*before.last().expect("a CPU")];
            os::set_affinity(&before[..1]).expect("a CPU of the mask");
            assert_eq!(Pin::check(&last), Ok(()));
            let refusal = Pin::check(&vec![8191]).expect_err("no machine has so many").to_string();
            assert!(refusal.contains(&format!("({})", ranges(&usable().expect("it was set above")))), "{refusal}");
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn refuses_no_cpu_and_cpus_that_are_not_there_and_changes_nothing() {
        std::thread::spawn(|| {
            let before = match os::affinity() {
                Ok(before) => before,
                Err(why) => return oversleep_testing::skip(why),
            };
            let partly = vec![before[0], 8191];
            for cpus in [vec![], vec![8191], vec![u32::MAX], partly] {
                let (outcome, guard) = Of(Pin).apply(&Setting::Cpus(cpus));
                assert!(!outcome.holds() && guard.is_none(), "{outcome:?}");
                assert_eq!(os::affinity().expect("affinity"), before);
            }
        })
        .join()
        .expect("no panic");
    }
}
