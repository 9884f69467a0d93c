//! A question to a machine, as typed and as in the files of observations: `sleep(1ms)`, `step(qpc)`, and its
//! conditions.

use std::fmt;
use std::str::FromStr;

use oversleep_record::Nanos;
use oversleep_record::conditions::{Conditions, LoadSpec, Setting};
use oversleep_record::label::JoinStyle;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls;
use serde::{Deserialize, Deserializer};

use super::{clocks, spans};

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `sleep(1ms)`: how long this wait takes. `sleep` means the platform's simplest sleep.
    Wait {
        /// Registry name, or `sleep`.
        name: String,
        /// The request.
        request: Nanos,
    },
    /// `yield(sleep-zero)`: how long a yield takes.
    Yield {
        /// Registry name.
        name: String,
    },
    /// `step(get-tick-count-64)`: how far a clock moves at once.
    Step {
        /// Registry name.
        clock: String,
    },
    /// `cost(tsc)`: how long one read takes.
    Cost {
        /// Registry name.
        clock: String,
    },
    /// `shows(clock)`: the time that a clock shows for a sleep of 100 ms.
    Shows {
        /// Registry name.
        clock: String,
    },
    /// `resolution()`: the timer resolution that the system states while the conditions hold.
    Resolution,
    /// `forkjoin(blocked)`: from fork to join, by how the main thread waits; `forkjoin(single)` is the work of one
    /// thread. The precise clock times it, or the clock that `--clock` names.
    ForkJoin {
        /// How the main thread waits.
        style: JoinStyle,
        /// Whether the platform's coarse clock times it.
        coarse: bool,
    },
}

/// Why a question can't be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}': {why}")]
pub struct QuestionError {
    text: String,
    why: String,
}

impl FromStr for Subject {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Subject, QuestionError> {
        let wrong = |why: String| QuestionError { text: text.to_owned(), why };
        let typed = spans::bare(text);
        if !typed.contains('(') {
            // `Environment.TickCount64` is read like a field.
            if clocks::is_known(typed) {
                return Ok(Subject::Step { clock: typed.to_owned() });
            }
            return Err(wrong(FORMS.to_owned()));
        }
        let split = spans::split(typed);
        let (verb, argument) = split.ok_or_else(|| wrong("the closing parenthesis is missing".to_owned()))?;
        let verb = verb.as_str();
        let name = |what: &str| {
            if is_call(argument) {
                Ok(argument.to_owned())
            } else {
                Err(wrong(format!("{verb} takes the name of {what}")))
            }
        };
        match verb {
            "" => Err(wrong(FORMS.to_owned())),
            "step" => Ok(Subject::Step { clock: name("a clock, like step(monotonic-coarse)")? }),
            "cost" => Ok(Subject::Cost { clock: name("a clock, like cost(tsc)")? }),
            "shows" => Ok(Subject::Shows { clock: name("a clock, like shows(clock)")? }),
            "handoff" => Err(wrong("to measure a hand-off, run `oversleep handoff NAME --on MACHINE`".to_owned())),
            "yield" => Ok(Subject::Yield { name: name("a yield, like yield(sched-yield)")? }),
            "resolution" if argument.is_empty() => Ok(Subject::Resolution),
            "resolution" => {
                Err(wrong("resolution() takes no argument; state conditions with options like --resolution".to_owned()))
            }
            "forkjoin" => fork_join(argument).ok_or_else(|| {
                let styles = JoinStyle::ALL.iter().map(|style| style.as_str()).collect::<Vec<_>>().join(", ");
                wrong(format!("write forkjoin(STYLE) or forkjoin(STYLE, coarse); STYLE is one of {styles}"))
            }),
            // Windows' Sleep(0) is a yield.
            wait if wait.eq_ignore_ascii_case("sleep") && ["0", "0ms"].contains(&argument) => {
                Ok(Subject::Yield { name: "sleep-zero".to_owned() })
            }
            wait if is_call(wait) => {
                if let Some(clock) = clocks::read_by(wait, argument) {
                    return Ok(Subject::Step { clock });
                }
                if let Some((_, why)) = UNTIMED.iter().find(|(name, _)| wait.ends_with(name)) {
                    return Err(wrong((*why).to_owned()));
                }
                let wait = &*spans::canonical(wait, argument).map_err(wrong)?;
                let request = spans::read(wait, argument).map_err(wrong)?;
                let wait = spans::made_by(wait, argument);
                let shortest = Nanos(i64::from(!runtime_calls::call(wait).is_some_and(|call| call.takes_zero)));
                if !(shortest..=REQUEST_MAX).contains(&request) {
                    return Err(wrong(
                        "a wait takes 1ns to 60 days (60d); to give the CPU away, ask yield(NAME)".to_owned(),
                    ));
                }
                Ok(Subject::Wait { name: wait.to_owned(), request })
            }
            _ => Err(wrong(FORMS.to_owned())),
        }
    }
}

/// The longest request of a modelled machine: a thousand of them fit in the time of a model.
pub const REQUEST_MAX: Nanos = Nanos::from_secs(60 * 86_400);
const FORMS: &str = "write a question like sleep(1ms), WAIT(DURATION), yield(NAME), step(CLOCK), cost(CLOCK), shows(CLOCK), \
                     forkjoin(blocked) or resolution(), or a clock as in the code, like time.monotonic()";

const NO_TIMER: &str = "it runs without a timer; ask 'setTimeout(f, 0)' for the shortest one";
const KEEPS_BUSY: &str = "it keeps a CPU busy until its time is up; ask 'pygame.time.wait(16)' for a wait";
/// What runs without a timer, by the end of its name, and what can be asked instead.
const UNTIMED: &[(&str, &str)] = &[
    ("setImmediate", NO_TIMER),
    ("nextTick", NO_TIMER),
    ("queueMicrotask", NO_TIMER),
    ("requestAnimationFrame", "it runs at the screen's next frame; ask 'window.setTimeout(f, 16)' for a timer"),
    ("tick_busy_loop", KEEPS_BUSY),
    ("time.delay", KEEPS_BUSY),
];

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// A registry name, or a call as the system or a language writes it.
fn is_call(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_:./@".contains(c))
}

fn fork_join(argument: &str) -> Option<Subject> {
    let (style, coarse) = match argument.split_once(',') {
        None => (argument, false),
        Some((style, clock)) if clock.trim() == "coarse" => (style.trim(), true),
        Some(_) => return None,
    };
    Some(Subject::ForkJoin { style: style.parse().ok()?, coarse })
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Wait { name, request } => {
                write!(f, "{name}({})", request.as_typed())
            }
            Subject::Yield { name } => write!(f, "yield({name})"),
            Subject::Step { clock } => write!(f, "step({clock})"),
            Subject::Cost { clock } => write!(f, "cost({clock})"),
            Subject::Shows { clock } => write!(f, "shows({clock})"),
            Subject::Resolution => f.write_str("resolution()"),
            Subject::ForkJoin { style, coarse: false } => write!(f, "forkjoin({style})"),
            Subject::ForkJoin { style, coarse: true } => write!(f, "forkjoin({style}, coarse)"),
        }
    }
}

/// A question with its conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub subject: Subject,
    /// The settings of the asking process and its thread, and the background load.
    pub conditions: Conditions,
    /// The settings of the resolution tunable that other processes hold, one each.
    pub neighbours: Vec<Setting>,
    /// Whether those processes have exited before anything is measured.
    pub neighbours_left: bool,
    /// The pace of the waits; `None` means back to back.
    pub pace: Option<Pace>,
    /// How many values to take.
    pub count: u64,
    /// Registry name of the clock that timestamps are read from; `None` means the reference clock.
    pub clock: Option<String>,
}

/// How many fork-joins by default, as published: each takes some 20 ms.
pub const FORK_JOIN_COUNT: u64 = 100;

impl Question {
    /// That subject on a machine as found, with its default count. A call that is made at a fixed rate has deadlines.
    pub fn of(subject: Subject) -> Question {
        let count = match &subject {
            Subject::ForkJoin { .. } => FORK_JOIN_COUNT,
            Subject::Wait { request, .. } => runtime_calls::count(*request),
            _ => runtime_calls::count(Nanos::ZERO),
        };
        let pace = match &subject {
            Subject::Wait { name, .. } => Some(runtime_calls::pace(name)).filter(|pace| *pace != Pace::BackToBack),
            _ => None,
        };
        Question {
            subject,
            conditions: Conditions::as_found(),
            neighbours: Vec::new(),
            neighbours_left: false,
            pace,
            count,
            clock: None,
        }
    }
}

/// Reads a setting: `on`, `off`, a duration, or a policy with its priority.
///
/// # Errors
/// The form of a setting.
pub fn setting(text: &str) -> Result<Setting, QuestionError> {
    let wrong = |_| QuestionError {
        text: text.to_owned(),
        why: "write a setting as on, off, a duration like 1ms, or a policy like fifo:80".to_owned(),
    };
    text.parse().map_err(wrong)
}

/// Reads a load: `spin:16`.
///
/// # Errors
/// The form of a load.
pub fn load(text: &str) -> Result<LoadSpec, QuestionError> {
    let wrong = || QuestionError { text: text.to_owned(), why: "write a load as KIND:N, like spin:4".to_owned() };
    let (kind, hogs) = text.split_once(':').ok_or_else(wrong)?;
    if !is_name(kind) {
        return Err(wrong());
    }
    Ok(LoadSpec { kind: kind.to_owned(), hogs: hogs.parse().map_err(|_| wrong())? })
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Subject, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_is_read_back_from_its_text() {
        for text in [
            "sleep(1ms)",
            "nanosleep(300us)",
            "wait-for-single-object(1.5ms)",
            "WaitForSingleObject(1ms)",
            "yield(sleep-zero)",
            "step(get-tick-count-64)",
            "cost(tsc)",
            "shows(clock)",
            "resolution()",
            "forkjoin(blocked)",
            "forkjoin(polling, coarse)",
            "step(time.monotonic)",
            "setTimeout(0ns)",
        ] {
            assert_eq!(text.parse::<Subject>().expect(text).to_string(), text);
        }
        let spaced: Subject = " sleep( 1 ms ) ".parse().expect("spaces do no harm");
        assert_eq!(spaced, Subject::Wait { name: "sleep".to_owned(), request: Nanos::from_millis(1) });
    }

    #[test]
    fn an_error_shows_what_would_be_right() {
        for (text, part) in [
            ("sleep", "write a question like sleep(1ms)"),
            ("sleep(1ms", "closing parenthesis"),
            ("nanosleep(0ms)", "takes 1ns to 60 days"),
            ("handoff(event)", "oversleep handoff NAME"),
            ("sleep(1500h)", "takes 1ns to 60 days"),
            ("step()", "the name of a clock"),
            ("forkjoin(sideways)", "blocked, spinning, polling, single"),
            ("resolution(1ms)", "takes no argument"),
            ("Sle ep(1ms)", "write a question"),
        ] {
            let error = text.parse::<Subject>().expect_err(text).to_string();
            assert!(error.contains(part) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn settings_are_recognised_by_their_form() {
        assert_eq!(setting("2ms"), Ok(Setting::Nanos(Nanos::from_millis(2))));
        assert_eq!(setting("on"), Ok(Setting::Flag(true)));
        assert_eq!(setting("fifo:80"), Ok(Setting::Policy { policy: "fifo".to_owned(), priority: 80 }));
        assert_eq!(
            setting("time-constraint"),
            Ok(Setting::Policy { policy: "time-constraint".to_owned(), priority: 0 })
        );
        assert!(setting("").is_err() && setting("12").is_err() && setting("fifo:high").is_err());
        assert_eq!(load("spin:16"), Ok(LoadSpec { kind: "spin".to_owned(), hogs: 16 }));
        assert!(load("spin").is_err() && load(":1").is_err() && load("spin:-1").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            if let Ok(subject) = text.parse::<Subject>() {
                prop_assert_eq!(subject.to_string().parse::<Subject>(), Ok(subject));
            }
            let _ = (setting(&text), load(&text));
        }
    }
}
