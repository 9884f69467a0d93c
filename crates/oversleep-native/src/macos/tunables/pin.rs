//! Keeping a thread on a CPU: macOS has no call for it, and the entry says so.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::native::tunables::{Applied, Entry, cpus};

pub(super) struct Pin;

impl Entry for Pin {
    type Request = ();

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "pin");

    fn parse(setting: &Setting) -> Option<()> {
        cpus(setting).map(drop)
    }

    fn read() -> Result<Setting, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    fn change((): (), _: &Setting) -> Result<Applied, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }
}
