//! Priority of the calling thread and class of its process.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::pairing::assert_paired;
use oversleep_system::{TunableInfo, describe, names_of, tunables};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetPriorityClass, GetThreadPriority, HIGH_PRIORITY_CLASS,
    NORMAL_PRIORITY_CLASS, REALTIME_PRIORITY_CLASS, SetPriorityClass, SetThreadPriority, THREAD_PRIORITY_ABOVE_NORMAL,
    THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_HIGHEST, THREAD_PRIORITY_IDLE, THREAD_PRIORITY_LOWEST,
    THREAD_PRIORITY_NORMAL, THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::native::tunables::{Applied, Entry, already, changed, undo, word};
use crate::windows::os;

pub(super) struct PolicyTunable;

const ALLOW_REALTIME: &str = "the privilege SeIncreaseBasePriorityPrivilege, which an administrator's elevated prompt has; \
    without it Windows grants the class high instead";

/// What a word stands for: a class of the process or a priority of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Class(u32),
    Thread(i32),
}

const LEVELS: [(&str, Level); 9] = [
    ("normal", Level::Thread(THREAD_PRIORITY_NORMAL)),
    ("idle", Level::Thread(THREAD_PRIORITY_IDLE)),
    ("lowest", Level::Thread(THREAD_PRIORITY_LOWEST)),
    ("below-normal", Level::Thread(THREAD_PRIORITY_BELOW_NORMAL)),
    ("above-normal", Level::Thread(THREAD_PRIORITY_ABOVE_NORMAL)),
    ("highest", Level::Thread(THREAD_PRIORITY_HIGHEST)),
    ("time-critical", Level::Thread(THREAD_PRIORITY_TIME_CRITICAL)),
    ("high", Level::Class(HIGH_PRIORITY_CLASS)),
    ("realtime", Level::Class(REALTIME_PRIORITY_CLASS)),
];

const _: () = assert_paired(&names_of!(PolicyTunable::INFO.words), &[&LEVELS]);

/// The word for a level.
fn name(level: Level) -> Option<&'static str> {
    LEVELS.iter().find(|(_, known)| *known == level).map(|(name, _)| *name)
}

/// What the scheduler knows of this thread and its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Priority {
    class: u32,
    thread: i32,
}

fn get() -> Result<Priority, Unavailable> {
    const ERROR: i32 = i32::MAX;
    // SAFETY: the pseudo-handles need no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadpriority
    let (class, thread) = unsafe { (GetPriorityClass(GetCurrentProcess()), GetThreadPriority(GetCurrentThread())) };
    match (class, thread) {
        (0, _) => Err(os::failed("GetPriorityClass")),
        (_, ERROR) => Err(os::failed("GetThreadPriority")),
        _ => Ok(Priority { class, thread }),
    }
}

/// Goes from `now` to `wanted`: first the class, because the thread's priority counts within it.
fn set(now: Priority, wanted: Priority) -> Result<(), Unavailable> {
    // SAFETY: as for `get`; unknown values are refused.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setpriorityclass
    if now.class != wanted.class && unsafe { SetPriorityClass(GetCurrentProcess(), wanted.class) } == 0 {
        return Err(os::failed("SetPriorityClass"));
    }
    // SAFETY: as above.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setthreadpriority
    if now.thread != wanted.thread && unsafe { SetThreadPriority(GetCurrentThread(), wanted.thread) } == 0 {
        return Err(os::failed("SetThreadPriority"));
    }
    Ok(())
}

impl Priority {
    /// The policy as a setting: the class if it is a special one and the thread has normal priority in it, otherwise
    /// the thread's priority.
    fn setting(self) -> Setting {
        let class = name(Level::Class(self.class)).filter(|_| self.thread == THREAD_PRIORITY_NORMAL);
        let (policy, priority) = match class.or_else(|| name(Level::Thread(self.thread))) {
            Some(name) => (name, 0),
            None => ("unnamed", self.thread),
        };
        word(policy, priority)
    }

    /// This priority after a change to that level.
    fn with(self, level: Level) -> Priority {
        match level {
            Level::Class(class) => Priority { class, thread: THREAD_PRIORITY_NORMAL },
            // A plain thread in a special class would be named by the class.
            Level::Thread(thread) if name(Level::Class(self.class)).is_some() => {
                Priority { class: NORMAL_PRIORITY_CLASS, thread }
            }
            Level::Thread(thread) => Priority { thread, ..self },
        }
    }
}

impl Entry for PolicyTunable {
    type Request = Level;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "policy");

    fn parse(setting: &Setting) -> Option<Level> {
        let (name, _) = Self::INFO.word(setting)?;
        LEVELS.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    fn read() -> Result<Setting, Unavailable> {
        get().map(Priority::setting)
    }

    fn compared() -> Vec<Setting> {
        Self::INFO.words.iter().map(|info| word(info.name, 0)).collect()
    }

    fn change(requested: Level, _: &Setting) -> Result<Applied, Unavailable> {
        let was = get()?;
        let wanted = was.with(requested);
        if was == wanted {
            return Ok(already(was.setting()));
        }
        // Made first, so that a change that fails half-way is restored too.
        let guard = undo(move || {
            // A lower priority is always allowed. A failure has nobody to report to.
            if let Ok(now) = get() {
                let _ = set(now, was);
            }
        });
        match set(was, wanted).and_then(|()| get())? {
            now if now == wanted => Ok(changed(was.setting(), now.setting(), guard)),
            _ if wanted.class == REALTIME_PRIORITY_CLASS => {
                Err(Unavailable::not_permitted("the process class realtime", ALLOW_REALTIME))
            }
            now => Err(Unavailable::failed(Self::INFO.call, format!("it became {} instead", now.setting()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn every_word_means_one_priority_and_back() {
        let plain = Priority { class: NORMAL_PRIORITY_CLASS, thread: THREAD_PRIORITY_NORMAL };
        for setting in Of(PolicyTunable).settings_to_compare() {
            let requested = PolicyTunable::parse(&setting).expect("a word of ours");
            let priority = plain.with(requested);
            assert_eq!(priority.setting(), setting);
            // In a special class, the same word has the same meaning.
            let special = Priority { class: REALTIME_PRIORITY_CLASS, ..plain };
            assert_eq!(special.with(requested).setting(), setting);
        }
        assert_eq!(Priority { thread: -7, ..plain }.setting().to_string(), "unnamed:-7");
        assert_eq!([PolicyTunable::parse(&word("fifo", 0)), PolicyTunable::parse(&word("highest", 2))], [None; 2]);
        assert!(Of(PolicyTunable).validate(&word("highest", 2)).is_err());
    }

    #[test]
    fn every_outcome_leaves_thread_and_process_as_found_or_says_what_holds() {
        for requested in Of(PolicyTunable).settings_to_compare() {
            let before = get().expect("readable");
            let (outcome, guard) = Of(PolicyTunable).apply(&requested);
            match outcome {
                Outcome::Applied { now, .. } => {
                    assert_eq!(now, requested);
                    assert_eq!(Of(PolicyTunable).current().as_ref(), Ok(&requested));
                }
                Outcome::AlreadySo { is } => assert_eq!(is, before.setting()),
                Outcome::Denied { why } => {
                    println!("{requested}: {why}");
                    assert!(guard.is_none());
                }
            }
            drop(guard);
            assert_eq!(get(), Ok(before), "{requested}");
        }
    }
}
