//! Keeping a thread on a CPU, which macOS has no call for: the entry says so instead of leaving a hint for a fact.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use super::{Applied, denied, not_a_setting, wrong_kind};
use crate::platform::interface::{Scope, Tunable, TunableInfo};

pub(super) struct Pin;

static INFO: TunableInfo = TunableInfo {
    name: "pin",
    call: "none",
    doc: "Not on macOS: no call holds a thread on a CPU. The tunable qos moves threads between kinds of cores, and affinity \
          asks Intel Macs to let threads share a cache.",
    scope: Scope::Thread,
    sets_resolution: false,
    since: "no version of macOS",
    page: "https://developer.apple.com/library/archive/releasenotes/Performance/RN-AffinityAPI/index.html",
};

const RIGHT: &str = "one or more CPU numbers";

impl Tunable for Pin {
    fn info(&self) -> &TunableInfo {
        &INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        match setting {
            Setting::Cpus(cpus) if !cpus.is_empty() => Ok(()),
            _ => Err(not_a_setting(INFO.name, setting, RIGHT)),
        }
    }

    fn apply(&self, setting: &Setting) -> Applied {
        match self.validate(setting) {
            Ok(()) => denied(Unavailable::NotOnThisPlatform),
            Err(_) => wrong_kind(INFO.name, setting, RIGHT),
        }
    }
}
