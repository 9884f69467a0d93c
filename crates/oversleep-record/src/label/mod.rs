//! Labels distinguish a series from others with the same subject, request and conditions. Each label's name and its
//! possible words are defined once, here.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::conditions::{Held, HeldSettings};
use crate::observed::wait::Request;
use crate::units::Nanos;

/// The labels of a series: name → value. Labels of a later version are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// No labels.
    pub const fn new() -> Labels {
        Labels(BTreeMap::new())
    }

    /// The value of a label; `None` if the series doesn't have it or this version doesn't know its value.
    pub fn get<T: LabelValue>(&self, label: Label<T>) -> Option<T> {
        T::read(self.0.get(label.name)?)
    }

    /// Sets a label.
    pub fn set<T: LabelValue>(&mut self, label: Label<T>, value: T) {
        self.0.insert(label.name.to_owned(), value.write());
    }

    /// Returns these labels with one more.
    pub fn with<T: LabelValue>(mut self, label: Label<T>, value: T) -> Labels {
        self.set(label, value);
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the new name of each label that has one of these old names.
    pub(crate) fn rename(&mut self, names: &[(&str, &str)]) {
        for (old, new) in names {
            if let Some(value) = self.0.remove(*old) {
                self.0.insert((*new).to_owned(), value);
            }
        }
    }

    /// Names and values as they are written, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Labels {
    /// Labels as a file has them, for tests and for readers of other formats.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(labels: I) -> Labels {
        Labels(labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The name of a label together with the type of its values.
pub struct Label<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> Label<T> {
    pub(crate) const fn named(name: &'static str) -> Label<T> {
        Label { name, value: PhantomData }
    }

    /// The name as text.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<T> Clone for Label<T> {
    fn clone(&self) -> Label<T> {
        *self
    }
}

impl<T> Copy for Label<T> {}

/// How the main thread of a fork-join waits.
pub const STYLE: Label<JoinStyle> = Label::named("style");
/// Which of two clocks timed it.
pub const CLOCK_ROLE: Label<ClockRole> = Label::named("clock_role");
/// How many threads take part.
pub const THREADS: Label<u64> = Label::named("threads");
/// How many tasks a generation has.
pub const TASKS: Label<u64> = Label::named("tasks");
/// How many calls were timed, where the user asked for so many.
pub const CALLS: Label<u64> = Label::named("calls");
/// The work of all threads together.
pub const WORK: Label<Nanos> = Label::named("work_ns");
/// The work of one task.
pub const TASK: Label<Nanos> = Label::named("task_ns");
/// Which way of a hand-off is timed.
pub const WAY: Label<Way> = Label::named("way");
/// When each sleep begins.
pub const PHASE: Label<Phase> = Label::named("phase");
/// The remedy that was tried.
pub const REMEDY: Label<String> = Label::named("remedy");
/// Without the remedy, or with it.
pub const TRIAL_SIDE: Label<TrialSide> = Label::named("side");
/// The class of CPU that the thread was pinned to.
pub const CPU_KIND: Label<CpuKind> = Label::named("cpu_kind");
/// Who else wants the CPU.
pub const COMPETITION: Label<Competition> = Label::named("competition");
/// What the holding thread does.
pub const ACTIVITY: Label<Activity> = Label::named("activity");
/// What is counted.
pub const COUNTED: Label<Counted> = Label::named("counted");
/// Of which kind the counted interrupts are, where they are not the timer's.
pub const INTERRUPT_KIND: Label<InterruptKind> = Label::named("interrupt_kind");
/// What the thread holds.
pub const HELD: Label<Held> = Label::named("held");
/// What the neighbours requested.
pub const NEIGHBOUR: Label<HeldSettings> = Label::named("neighbour");
/// What the neighbours were granted.
pub const GRANTED: Label<HeldSettings> = Label::named("granted");
/// How late the timer may end by its own request.
pub const TOLERANCE: Label<Nanos> = Label::named("tolerance_ns");
/// The call of the system that a runtime's wait ends up in, by registry name.
pub const BENEATH: Label<String> = Label::named("beneath");
/// Whether the wait came back.
pub const ENDED: Label<Ended> = Label::named("ended");
/// Garbage collections while it was measured.
pub const COLLECTIONS: Label<u64> = Label::named("collections");
/// CPU time of the program while it was measured.
pub const CPU: Label<Nanos> = Label::named("cpu_ns");
/// The observed program.
pub const PROGRAM: Label<String> = Label::named("program");
/// The observed thread's name.
pub const THREAD: Label<String> = Label::named("thread");
/// The call that set the timer that an observed thread waits for, where that isn't the wait itself.
pub const TIMER: Label<String> = Label::named("timer");
/// How an observed program stated when its wait should end.
pub const REQUEST: Label<Request> = Label::named("request");
/// A condition of the runtime's own: an option or a trick that was published as a remedy.
pub const VARIANT: Label<String> = Label::named("variant");
/// What makes a late call of a runtime end closer to its time on that modelled machine, or why nothing does.
pub const ADVICE: Label<String> = Label::named("advice");

/// The labels that describe the outcome or the amount of a measurement, and not what was measured.
pub const OUTCOMES: [&str; 6] =
    [CALLS.name(), GRANTED.name(), ENDED.name(), COLLECTIONS.name(), CPU.name(), ADVICE.name()];

/// A type that can be the value of a label.
pub trait LabelValue: Sized {
    /// Parses the written form; `None` for a value that this version doesn't know.
    fn read(text: &str) -> Option<Self>;

    /// Its written form.
    fn write(&self) -> String;
}

impl LabelValue for u64 {
    fn read(text: &str) -> Option<u64> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// Whole nanoseconds, as the names of such labels say.
impl LabelValue for Nanos {
    fn read(text: &str) -> Option<Nanos> {
        text.parse().ok().map(Nanos)
    }

    fn write(&self) -> String {
        self.0.to_string()
    }
}

impl LabelValue for String {
    fn read(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

/// The written form is the same as in JSON.
impl LabelValue for Request {
    fn read(text: &str) -> Option<Request> {
        Request::ALL.into_iter().find(|request| request.as_str() == text)
    }

    fn write(&self) -> String {
        self.as_str().to_owned()
    }
}

impl LabelValue for Held {
    fn read(text: &str) -> Option<Held> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl LabelValue for HeldSettings {
    fn read(text: &str) -> Option<HeldSettings> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// A text that is none of the possible words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of the words that can stand here")]
pub struct WordError;

/// Enums whose variants are words in labels, in keys and on the command line.
macro_rules! words {
    ($($(#[doc = $about:literal])* $name:ident { $($(#[doc = $doc:literal])* $variant:ident $text:literal,)* })*) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $name {
            /// All values, in order.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word as text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = WordError;

            fn from_str(text: &str) -> Result<$name, WordError> {
                $name::ALL.iter().copied().find(|word| word.as_str() == text).ok_or(WordError)
            }
        }

        impl LabelValue for $name {
            fn read(text: &str) -> Option<$name> {
                text.parse().ok()
            }

            fn write(&self) -> String {
                self.as_str().to_owned()
            }
        }
    )*};
}

words! {
    /// How the main thread of a fork-join waits for its workers.
    JoinStyle {
        /// Blocked in the join.
        Blocked "blocked",
        /// In a loop that reads whether they are done.
        Spinning "spinning",
        /// Asleep for a millisecond at a time.
        Polling "polling",
        /// There are no workers: it does the work itself.
        Single "single",
    }

    /// Which of two clocks that time the same thing.
    ClockRole {
        /// The one with long steps.
        Coarse "coarse",
        /// The one that is read as exactly as the machine allows.
        Precise "precise",
    }

    /// Which way of a hand-off is timed.
    Way {
        /// From the signal to the woken thread's first clock read.
        OneWay "one-way",
        /// There and back.
        PingPong "ping-pong",
    }

    /// When each sleep of a series begins.
    Phase {
        /// As soon as the one before it ended.
        BackToBack "back-to-back",
        /// After a pause of random length.
        Random "random",
    }

    /// A side of a trial.
    TrialSide {
        /// Without the remedy.
        Before "before",
        /// With it.
        After "after",
    }

    /// A class of CPU cores.
    CpuKind {
        /// The machine has one class only, or doesn't tell classes apart.
        Uniform "uniform",
        /// The fast class.
        Performance "performance",
        /// The thrifty class.
        Efficiency "efficiency",
    }

    /// Who else wants the CPU that is yielded.
    Competition {
        /// Nobody.
        Idle "idle",
        /// Busy threads, one per CPU.
        Competing "competing",
    }

    /// What a thread that holds a setting does.
    Activity {
        /// It sleeps through.
        Idle "idle",
        /// It sleeps 1 ms over and over.
        Sleeping "sleeping",
    }

    /// What is counted while a setting is held.
    Counted {
        /// Interrupts of all CPUs.
        Interrupts "interrupts",
        /// Wake-ups of the holding threads.
        Wakeups "wakeups",
        /// Time in an idle state.
        Residency "residency",
        /// Power of the processor packages.
        Power "power",
    }

    /// Whether a wait came back.
    Ended {
        /// It returned.
        Returned "returned",
        /// It had not returned long after it was due, so it was killed.
        Never "never",
    }

    /// Which interrupts are counted, where they are not the timer's alone.
    InterruptKind {
        /// Every kind together.
        AllKinds "all-kinds",
    }
}

#[cfg(test)]
mod tests;
