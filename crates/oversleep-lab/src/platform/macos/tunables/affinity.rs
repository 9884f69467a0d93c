//! Affinity tags: threads with the same tag are put on CPUs that share a cache. Intel Macs only.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use super::thread_policy::{self, FormerClass};
use super::{Applied, NotSend, already, denied, not_a_setting, word, wrong_kind};
use crate::platform::interface::{Restore, Scope, Tunable, TunableInfo};
use crate::platform::macos::os::{self, KernReturn};

pub(super) struct Affinity;

static INFO: TunableInfo = TunableInfo {
    name: "affinity",
    call: "thread_policy_set(THREAD_AFFINITY_POLICY)",
    doc: "A hint: threads with the same tag shall share a cache, those with different ones shall not. It names no CPU and \
          holds nothing in place; Apple silicon doesn't take it.",
    scope: Scope::Thread,
    sets_resolution: false,
    since: "Mac OS X 10.5, Intel",
    page: "https://developer.apple.com/library/archive/releasenotes/Performance/RN-AffinityAPI/index.html",
};

const RIGHT: &str = "tag with a number above 0, as in tag:1";
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

fn understood(setting: &Setting) -> Option<i32> {
    match setting {
        Setting::Policy { policy, priority: tag @ 1.. } if policy == TAG => Some(*tag),
        _ => None,
    }
}

impl Tunable for Affinity {
    fn info(&self) -> &TunableInfo {
        &INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        tag().map(|tag| word(TAG, tag))
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        understood(setting).map(drop).ok_or_else(|| not_a_setting(INFO.name, setting, RIGHT))
    }

    fn apply(&self, setting: &Setting) -> Applied {
        let Some(asked) = understood(setting) else { return wrong_kind(INFO.name, setting, RIGHT) };
        let was = match tag() {
            Ok(was) if was == asked => return already(setting.clone()),
            Ok(was) => was,
            Err(why) => return denied(why),
        };
        let class = FormerClass::note();
        match thread_policy::set(libc::THREAD_AFFINITY_POLICY, &[asked]) {
            os::SUCCESS => {
                let guard = Guard { was, _class: class, _thread: NotSend::default() };
                let outcome = Outcome::Applied { was: Some(word(TAG, was)), now: setting.clone() };
                (outcome, Some(Box::new(guard)))
            }
            error => denied(reason(INFO.call, error)),
        }
    }
}

struct Guard {
    was: i32,
    /// Dropped after the tag is back.
    _class: FormerClass,
    _thread: NotSend,
}

impl Restore for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        // Zero, the null tag, takes the thread out of its set.
        thread_policy::set(libc::THREAD_AFFINITY_POLICY, &[self.was]);
    }
}
