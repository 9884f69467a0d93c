//! The latency tier of the calling thread: how far the kernel may postpone its timed waits.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use super::thread_policy::{self, FormerClass};
use crate::macos::os;
use crate::native::tunables::{Applied, Entry, already, changed, undo, word};

pub(super) struct Latency;

const UNSPECIFIED: &str = "unspecified";
/// One less than `LATENCY_QOS_TIER_0`; the tiers of `<mach/thread_policy.h>` follow it.
const BASE: i32 = 0xFF << 16;
const TIERS: [&str; 6] = ["tier-0", "tier-1", "tier-2", "tier-3", "tier-4", "tier-5"];

/// The kernel's number for a word.
fn number(tier: &str) -> Option<i32> {
    if tier == UNSPECIFIED {
        return Some(0);
    }
    let index = TIERS.iter().position(|known| *known == tier)?;
    Some(BASE | (index as i32 + 1))
}

/// The word for the kernel's number.
fn name(number: i32) -> Option<&'static str> {
    if number & 0xFFFF == 0 {
        return Some(UNSPECIFIED);
    }
    TIERS.get(usize::try_from(number & 0xFFFF).ok()? - 1).copied()
}

/// The tier that was set on the calling thread. By default it is unspecified, and the tier of its service class applies.
///
/// # Errors
/// Why it can't be read.
pub fn tier() -> Result<&'static str, Unavailable> {
    let mut words = [0];
    let failed = |error| os::mach_failed("thread_policy_get(THREAD_LATENCY_QOS_POLICY)", error);
    thread_policy::get(libc::THREAD_LATENCY_QOS_POLICY, &mut words).map_err(failed)?;
    name(words[0]).ok_or_else(|| Unavailable::Nonsense { what: format!("latency tier {:#x}", words[0]) })
}

impl Entry for Latency {
    type Request = i32;

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "latency");

    fn parse(setting: &Setting) -> Option<i32> {
        Self::INFO.word(setting).and_then(|(tier, _)| number(tier))
    }

    fn read() -> Result<Setting, Unavailable> {
        tier().map(|tier| word(tier, 0))
    }

    fn compared() -> Vec<Setting> {
        // Tiers 4 and 5 are left out: they may postpone a wait by ten seconds.
        [UNSPECIFIED, "tier-0", "tier-1", "tier-2", "tier-3"].map(|tier| word(tier, 0)).to_vec()
    }

    fn change(requested: i32, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = tier()?;
        if word(was, 0) == *setting {
            return Ok(already(setting.clone()));
        }
        let class = FormerClass::note();
        match thread_policy::set(libc::THREAD_LATENCY_QOS_POLICY, &[requested]) {
            os::SUCCESS => {}
            error => return Err(os::mach_failed(Self::INFO.call, error)),
        }
        let guard = undo(move || {
            thread_policy::set(libc::THREAD_LATENCY_QOS_POLICY, &[number(was).unwrap_or(0)]);
            // Last, so that the class counts again.
            drop(class);
        });
        match tier()? {
            now if word(now, 0) == *setting => Ok(changed(word(was, 0), word(now, 0), guard)),
            now => Err(Unavailable::failed(Self::INFO.call, format!("the tier became {now} instead"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_the_kernels_numbers() {
        assert_eq!(number("tier-0"), Some(0x00FF_0001));
        assert_eq!(number("tier-5"), Some(0x00FF_0006));
        assert_eq!(number("tier-6"), None);
        for tier in TIERS.into_iter().chain([UNSPECIFIED]) {
            assert_eq!(number(tier).and_then(name), Some(tier));
        }
        assert_eq!(name(0x00FF_0007), None);
    }
}
