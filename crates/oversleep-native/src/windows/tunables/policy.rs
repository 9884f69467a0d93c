//! Priority of the calling thread and class of its process.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetPriorityClass, GetThreadPriority, HIGH_PRIORITY_CLASS,
    NORMAL_PRIORITY_CLASS, REALTIME_PRIORITY_CLASS, SetPriorityClass, SetThreadPriority, THREAD_PRIORITY_ABOVE_NORMAL,
    THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_HIGHEST, THREAD_PRIORITY_IDLE, THREAD_PRIORITY_LOWEST,
    THREAD_PRIORITY_NORMAL, THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::native::tunables::{Applied, Entry, NotSend, already, changed, word};
use crate::windows::os;
use oversleep_system::{Restore, TunableInfo, describe, tunables};

pub(super) struct PolicyTunable;

const INFO: &TunableInfo = describe!(tunables::WINDOWS, "policy");
const ALLOW_REALTIME: &str = "the privilege SeIncreaseBasePriorityPrivilege, which an administrator's elevated prompt has; \
    without it Windows grants the class high instead";

/// The words for the priorities of a thread.
const THREAD: [(&str, i32); 7] = [
    ("normal", THREAD_PRIORITY_NORMAL),
    ("idle", THREAD_PRIORITY_IDLE),
    ("lowest", THREAD_PRIORITY_LOWEST),
    ("below-normal", THREAD_PRIORITY_BELOW_NORMAL),
    ("above-normal", THREAD_PRIORITY_ABOVE_NORMAL),
    ("highest", THREAD_PRIORITY_HIGHEST),
    ("time-critical", THREAD_PRIORITY_TIME_CRITICAL),
];
/// The words for the classes of a process that can be requested for.
const CLASS: [(&str, u32); 2] = [("high", HIGH_PRIORITY_CLASS), ("realtime", REALTIME_PRIORITY_CLASS)];

/// What a word asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Class(u32),
    Thread(i32),
}

impl Word {
    /// `None` for what Windows doesn't know.
    fn of(setting: &Setting) -> Option<Word> {
        let Setting::Policy { policy, priority: 0 } = setting else { return None };
        let class = CLASS.iter().find(|(name, _)| name == policy).map(|&(_, class)| Word::Class(class));
        class.or_else(|| THREAD.iter().find(|(name, _)| name == policy).map(|&(_, thread)| Word::Thread(thread)))
    }
}

/// What the scheduler was told.
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

/// Goes from `now` to `wanted`; the class first, in which the thread's priority counts.
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
    /// In the words of a setting: the class where it is a special one and the thread is plain in it, else the thread's.
    fn setting(self) -> Setting {
        let class = CLASS.iter().find(|(_, class)| *class == self.class && self.thread == THREAD_PRIORITY_NORMAL);
        let thread = THREAD.iter().find(|(_, thread)| *thread == self.thread);
        let (policy, priority) = match (class, thread) {
            (Some((name, _)), _) | (None, Some((name, _))) => (*name, 0),
            (None, None) => ("unnamed", self.thread),
        };
        word(policy, priority)
    }

    /// What the word makes of it.
    fn with(self, word: Word) -> Priority {
        match word {
            Word::Class(class) => Priority { class, thread: THREAD_PRIORITY_NORMAL },
            // A plain thread of a process whose class is special would be called by the class.
            Word::Thread(thread) if CLASS.iter().any(|(_, class)| *class == self.class) => {
                Priority { class: NORMAL_PRIORITY_CLASS, thread }
            }
            Word::Thread(thread) => Priority { thread, ..self },
        }
    }
}

impl Entry for PolicyTunable {
    type Request = Word;

    const INFO: &'static TunableInfo = INFO;

    fn parse(setting: &Setting) -> Option<Word> {
        Word::of(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        get().map(Priority::setting)
    }

    fn compared() -> Vec<Setting> {
        let names = THREAD.iter().map(|(name, _)| name).chain(CLASS.iter().map(|(name, _)| name));
        names.map(|name| word(name, 0)).collect()
    }

    fn change(requested: Word, _: &Setting) -> Result<Applied, Unavailable> {
        let was = get()?;
        let wanted = was.with(requested);
        if was == wanted {
            return Ok(already(was.setting()));
        }
        // Made first: what fails half-way is put back, too.
        let guard = Guard { was, _thread: NotSend::default() };
        match set(was, wanted).and_then(|()| get())? {
            now if now == wanted => Ok(changed(was.setting(), now.setting(), guard)),
            _ if wanted.class == REALTIME_PRIORITY_CLASS => {
                Err(Unavailable::not_permitted("the process class realtime", ALLOW_REALTIME))
            }
            now => Err(Unavailable::failed(INFO.call, format!("it became {} instead", now.setting()))),
        }
    }
}

struct Guard {
    was: Priority,
    _thread: NotSend,
}

impl Restore for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        // Going back down is always allowed; there is nobody to tell otherwise.
        if let Ok(now) = get() {
            let _ = set(now, self.was);
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;

    use super::*;
    use crate::native::tunables::Of;
    use oversleep_system::Tunable;

    #[test]
    fn every_word_means_one_priority_and_back() {
        let plain = Priority { class: NORMAL_PRIORITY_CLASS, thread: THREAD_PRIORITY_NORMAL };
        for setting in Of(PolicyTunable).settings_to_compare() {
            let requested = Word::of(&setting).expect("a word of ours");
            let priority = plain.with(requested);
            assert_eq!(priority.setting(), setting);
            // From a special class the same word means the same.
            let special = Priority { class: REALTIME_PRIORITY_CLASS, ..plain };
            assert_eq!(special.with(requested).setting(), setting);
        }
        assert_eq!(Priority { thread: -7, ..plain }.setting().to_string(), "unnamed:-7");
        assert_eq!([Word::of(&word("fifo", 0)), Word::of(&word("highest", 2))], [None; 2]);
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
