//! The CPUs that the calling thread may run on.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_record::words::ranges;
use oversleep_system::{TunableInfo, describe, tunables};
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{GetCurrentThread, SetThreadGroupAffinity};

use crate::native::tunables::{Applied, Entry, already, changed, cpus, undo};
use crate::windows::os;
use crate::windows::processors::{self, GROUP_CPUS};

pub(super) struct Pin;

/// The affinity of these CPUs; `None` for an empty list, or CPUs of several groups.
fn affinity_of(cpus: &[u32]) -> Option<GROUP_AFFINITY> {
    let group = cpus.first()? / GROUP_CPUS;
    let mut affinity = GROUP_AFFINITY { Group: u16::try_from(group).ok()?, ..GROUP_AFFINITY::default() };
    for cpu in cpus {
        if cpu / GROUP_CPUS != group {
            return None;
        }
        affinity.Mask |= 1_usize.checked_shl(cpu % GROUP_CPUS)?;
    }
    Some(affinity)
}

fn set(cpus: &[u32]) -> Result<(), Unavailable> {
    let affinity = affinity_of(cpus).ok_or_else(|| Unavailable::failed(Pin::INFO.call, "CPUs of several groups"))?;
    // SAFETY: the pseudo-handle needs no closing, the affinity is valid to read; a mask with a CPU that isn't allowed
    // is refused. https://learn.microsoft.com/windows/win32/api/processtopologyapi/nf-processtopologyapi-setthreadgroupaffinity
    match unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, std::ptr::null_mut()) } {
        0 => Err(os::failed(Pin::INFO.call)),
        _ => Ok(()),
    }
}

fn not_here(lacking: &[u32], allowed: &[u32]) -> Unavailable {
    let (lacking, allowed) = (ranges(lacking), ranges(allowed));
    Unavailable::no_hardware(format!("CPU {lacking} among those that this process may use ({allowed})"))
}

/// The CPUs that this thread's group lacks. For another group, only the call shows it.
fn lacking(requested: &[u32], allowed: &[u32]) -> Vec<u32> {
    let groups = |cpus: &[u32]| cpus.first().map(|cpu| cpu / GROUP_CPUS);
    if groups(requested) == groups(allowed) {
        requested.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect()
    } else {
        Vec::new()
    }
}

impl Entry for Pin {
    type Request = Vec<u32>;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "pin");

    fn parse(setting: &Setting) -> Option<Vec<u32>> {
        cpus(setting).filter(|requested| affinity_of(requested).is_some())
    }

    fn check(request: &Vec<u32>) -> Result<(), Unavailable> {
        // Without the mask, only the change shows whether it is allowed.
        let Ok(allowed) = processors::allowed() else { return Ok(()) };
        let lacking = lacking(request, &allowed);
        if lacking.is_empty() { Ok(()) } else { Err(not_here(&lacking, &allowed)) }
    }

    fn read() -> Result<Setting, Unavailable> {
        processors::allowed().map(Setting::Cpus)
    }

    fn change(requested: Vec<u32>, _: &Setting) -> Result<Applied, Unavailable> {
        let was = processors::allowed()?;
        if was == requested {
            return Ok(already(Setting::Cpus(was)));
        }
        let before = was.clone();
        // What was set can be set back. A failure has nobody to report to.
        let guard = undo(move || _ = set(&before));
        if let Err(why) = set(&requested) {
            let lacking = lacking(&requested, &was);
            return Err(if lacking.is_empty() { why } else { not_here(&lacking, &was) });
        }
        let now = processors::allowed()?;
        if now != requested {
            let missing: Vec<u32> = requested.into_iter().filter(|cpu| !now.contains(cpu)).collect();
            return Err(not_here(&missing, &was));
        }
        Ok(changed(Setting::Cpus(was), Setting::Cpus(now), guard))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn cpus_become_a_mask_in_their_group() {
        let of = |cpus: &[u32]| affinity_of(cpus).map(|affinity| (affinity.Group, affinity.Mask));
        assert_eq!(of(&[0, 2]), Some((0, 0b101)));
        assert_eq!(of(&[65]), Some((1, 0b10)));
        assert_eq!([of(&[]), of(&[0, 64]), of(&[u32::MAX])], [None; 3]);
    }

    #[test]
    fn pins_to_one_cpu_and_back() {
        std::thread::spawn(|| {
            let before = processors::allowed().expect("affinity");
            let last = Setting::Cpus(vec![*before.last().expect("a CPU")]);
            let (outcome, guard) = Of(Pin).apply(&last);
            assert!(outcome.holds(), "{outcome:?}");
            assert_eq!(Of(Pin).current(), Ok(last));
            drop(guard);
            assert_eq!(processors::allowed(), Ok(before));
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn refuses_no_cpu_and_cpus_that_are_not_there_and_changes_nothing() {
        std::thread::spawn(|| {
            let before = processors::allowed().expect("affinity");
            let absent = (0..GROUP_CPUS).find(|cpu| !before.contains(cpu));
            let partly = absent.map(|absent| vec![before[0], absent]);
            for cpus in
                [Some(vec![]), absent.map(|absent| vec![absent]), Some(vec![u32::MAX]), partly].into_iter().flatten()
            {
                let (outcome, guard) = Of(Pin).apply(&Setting::Cpus(cpus));
                assert!(!outcome.holds() && guard.is_none(), "{outcome:?}");
                assert_eq!(processors::allowed().as_ref(), Ok(&before));
            }
        })
        .join()
        .expect("no panic");
    }
}
