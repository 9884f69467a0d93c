//! Keeping a thread on a CPU, which macOS has no call for: the entry says so instead of leaving a hint for a fact.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use crate::native::tunables::{Applied, Entry, cpus};
use oversleep_system::{Scope, TunableInfo};

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

impl Entry for Pin {
    type Asked = ();

    const INFO: &'static TunableInfo = &INFO;
    const RIGHT: &'static str = RIGHT;

    fn understood(setting: &Setting) -> Option<()> {
        cpus(setting).map(drop)
    }

    fn read() -> Result<Setting, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    fn change((): (), _: &Setting) -> Result<Applied, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }
}
