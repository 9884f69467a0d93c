//! The service class of the calling thread.

use std::ffi::c_int;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use super::thread_policy::Class;
use crate::macos::os;
use crate::native::tunables::{Applied, Entry, already, changed, undo, word};

pub(super) struct Qos;

const ALLOW: &str = "set the class on a thread that was never given a scheduling policy: one that was has left the classes \
    for good";

/// Numbers of `<sys/qos.h>`. A thread can be in the last two but can't request them.
const CLASSES: [(&str, u32); 7] = [
    ("user-interactive", 0x21),
    ("user-initiated", 0x19),
    ("default", 0x15),
    ("utility", 0x11),
    ("background", 0x09),
    ("maintenance", 0x05),
    ("unspecified", Class::NONE),
];

fn name(number: u32) -> String {
    let known = CLASSES.iter().find(|(_, class)| *class == number);
    known.map_or_else(|| format!("class-{number:#x}"), |(name, _)| (*name).to_owned())
}

impl Class {
    fn setting(self) -> Setting {
        word(&name(self.number), self.relative)
    }
}

/// The calling thread's class.
///
/// # Errors
/// Why it can't be read.
pub fn class() -> Result<Setting, Unavailable> {
    Class::current().map(Class::setting).map_err(unreadable)
}

fn unreadable(error: c_int) -> Unavailable {
    os::failed_with("pthread_get_qos_class_np", error)
}

fn refused(error: c_int) -> Unavailable {
    match error {
        libc::EPERM => Unavailable::not_permitted(Qos::INFO.call, ALLOW),
        error => os::failed_with(Qos::INFO.call, error),
    }
}

impl Entry for Qos {
    type Request = Class;

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "qos");

    fn parse(setting: &Setting) -> Option<Class> {
        let (class, relative) = Self::INFO.word(setting)?;
        let (_, number) = CLASSES.iter().find(|(name, _)| *name == class)?;
        Some(Class { number: *number, relative })
    }

    fn read() -> Result<Setting, Unavailable> {
        class()
    }

    fn compared() -> Vec<Setting> {
        Self::INFO.words.iter().map(|info| word(info.name, 0)).collect()
    }

    fn change(requested: Class, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = Class::current().map_err(unreadable)?;
        if was == requested {
            return Ok(already(setting.clone()));
        }
        requested.enter().map_err(refused)?;
        // A thread that was in no class can't leave them again; it ends soon.
        Ok(changed(was.setting(), setting.clone(), undo(move || _ = was.enter())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_name_and_number() {
        for info in Qos::INFO.words {
            let class = Qos::parse(&word(info.name, -15)).expect("a class");
            assert_eq!((name(class.number).as_str(), class.relative), (info.name, -15));
        }
        for wrong in [word("maintenance", 0), word("utility", 1), word("utility", -16), Setting::Flag(true)] {
            assert_eq!(Qos::parse(&wrong), None, "{wrong}");
        }
        assert_eq!(name(0x7), "class-0x7");
    }
}
