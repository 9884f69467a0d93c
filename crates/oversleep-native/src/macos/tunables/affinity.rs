//! Affinity tags: macOS puts threads with the same tag on CPUs that share a cache. Intel Macs only.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use super::thread_policy::{self, FormerClass};
use crate::macos::os::{self, KernReturn};
use crate::native::tunables::{Applied, Entry, already, changed, undo, word};

pub(super) struct Affinity;

const TAG: &str = "tag";

fn reason(call: &str, error: KernReturn) -> Unavailable {
    match error {
        os::NOT_SUPPORTED => Unavailable::no_hardware("affinity between threads and caches (Intel Macs have it)"),
        error => os::mach_failed(call, error),
    }
}

fn tag() -> Result<i32, Unavailable> {
    let mut words = [0];
    thread_policy::get(libc::THREAD_AFFINITY_POLICY, &mut words)
        .map_err(|error| reason("thread_policy_get(THREAD_AFFINITY_POLICY)", error))?;
    Ok(words[0])
}

impl Entry for Affinity {
    type Request = i32;

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "affinity");

    fn parse(setting: &Setting) -> Option<i32> {
        Self::INFO.word(setting).map(|(_, tag)| tag)
    }

    fn read() -> Result<Setting, Unavailable> {
        tag().map(|tag| word(TAG, tag))
    }

    fn change(requested: i32, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = tag()?;
        if was == requested {
            return Ok(already(setting.clone()));
        }
        let class = FormerClass::note();
        match thread_policy::set(libc::THREAD_AFFINITY_POLICY, &[requested]) {
            os::SUCCESS => {
                let guard = undo(move || {
                    // Zero, the null tag, takes the thread out of its set.
                    thread_policy::set(libc::THREAD_AFFINITY_POLICY, &[was]);
                    drop(class);
                });
                Ok(changed(word(TAG, was), setting.clone(), guard))
            }
            error => Err(reason(Self::INFO.call, error)),
        }
    }
}
