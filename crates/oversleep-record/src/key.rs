//! Keys of series. Only this module builds and parses them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::conditions::Setting;
use crate::experiment::ExperimentId;
use crate::label::TrialSide;
use crate::units::Nanos;

/// The unique key of a series in its file: `B5/nanosleep/1ms`, `C2/nanosleep/1ms/slack=1ns`.
///
/// The first part is the experiment, the second its subject; the other parts distinguish series of one experiment. In a
/// trial the remedy stands between the two: `trial/lower-timer-slack/nanosleep/1ms/before`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SeriesKey(String);

/// One part of a key, after the experiment and the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// `1ms`: the request, or the size of a task.
    Span(Nanos),
    /// `slack=1ns`: a name and its value.
    Named(&'a str, &'a str),
    /// `coarse`: a word.
    Word(&'a str),
}

impl SeriesKey {
    /// `B5/nanosleep`.
    pub fn new(experiment: ExperimentId, subject: &str) -> SeriesKey {
        SeriesKey(format!("{experiment}/{subject}"))
    }

    /// `trial/lower-timer-slack/nanosleep/1ms/before`.
    pub fn of_trial(remedy: &str, wait: &str, request: Nanos, side: TrialSide) -> SeriesKey {
        SeriesKey(format!("{}/{remedy}/{wait}", ExperimentId::TRIAL)).span(request).word(side)
    }

    /// The key of the same wait in a trial: `trial/lower-timer-slack/nanosleep/1ms/program=app/after` for
    /// `Y1/nanosleep/1ms/program=app`.
    #[must_use]
    pub fn tried(&self, remedy: &str, side: TrialSide) -> SeriesKey {
        let wait = self.0.split_once('/').map_or("", |(_, wait)| wait);
        SeriesKey(format!("{}/{remedy}/{wait}", ExperimentId::TRIAL)).word(side)
    }

    /// Adds a request or the size of a task: `…/1ms`.
    #[must_use]
    pub fn span(self, span: Nanos) -> SeriesKey {
        self.word(span.as_typed())
    }

    /// Adds a word: `…/coarse`.
    #[must_use]
    pub fn word(mut self, word: impl fmt::Display) -> SeriesKey {
        self.0.push('/');
        self.0.push_str(&word.to_string());
        self
    }

    /// Adds a name and its value: `…/load=spin:2`.
    #[must_use]
    pub fn named(self, name: &str, value: impl fmt::Display) -> SeriesKey {
        self.word(format_args!("{name}={value}"))
    }

    /// Adds a name and a text that may be anything, such as the name of a program: `…/program=app`. What would read as
    /// another part is escaped like in a URL.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> SeriesKey {
        let mut escaped = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '/' | '=' | '%' => escaped.push_str(&format!("%{:02X}", u32::from(letter))),
                _ => escaped.push(letter),
            }
        }
        self.named(name, escaped)
    }

    /// Adds the setting of a tunable: `…/slack=1ns`.
    #[must_use]
    pub fn setting(self, tunable: &str, setting: &Setting) -> SeriesKey {
        self.named(tunable, setting.as_typed())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The experiment in the key.
    pub fn experiment(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// Whether the series belongs to this experiment.
    pub fn is_of(&self, experiment: ExperimentId) -> bool {
        self.experiment() == experiment.as_str()
    }

    /// The registry name of what was measured, or an empty text if there is none.
    pub fn subject(&self) -> &str {
        let before = if self.is_of(ExperimentId::TRIAL) { 2 } else { 1 };
        self.0.split('/').nth(before).unwrap_or_default()
    }

    /// The same key for another subject.
    #[must_use]
    pub fn of_subject(&self, subject: &str) -> SeriesKey {
        let place = if self.is_of(ExperimentId::TRIAL) { 2 } else { 1 };
        let part = |(at, part)| if at == place { subject } else { part };
        SeriesKey(self.0.split('/').enumerate().map(part).collect::<Vec<_>>().join("/"))
    }

    /// The parts after the subject.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let before = if self.is_of(ExperimentId::TRIAL) { 3 } else { 2 };
        self.0.split('/').skip(before).map(|part| match (part.parse(), part.split_once('=')) {
            (Ok(span), _) => Part::Span(span),
            (_, Some((name, value))) => Part::Named(name, value),
            _ => Part::Word(part),
        })
    }

    /// Whether the key names the setting of this tunable.
    pub fn names_tunable(&self, tunable: &str) -> bool {
        self.parts().any(|part| matches!(part, Part::Named(name, _) if name == tunable))
    }
}

/// A key as written in a file or by a person; any text can be one.
impl From<&str> for SeriesKey {
    fn from(key: &str) -> SeriesKey {
        SeriesKey(key.to_owned())
    }
}

impl From<String> for SeriesKey {
    fn from(key: String) -> SeriesKey {
        SeriesKey(key)
    }
}

impl From<&SeriesKey> for String {
    fn from(key: &SeriesKey) -> String {
        key.0.clone()
    }
}

impl From<SeriesKey> for String {
    fn from(key: SeriesKey) -> String {
        key.0
    }
}

impl AsRef<str> for SeriesKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for SeriesKey {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for SeriesKey {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for SeriesKey {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for SeriesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::ClockRole;

    fn parts(key: &str) -> Vec<String> {
        SeriesKey::from(key).parts().map(|part| format!("{part:?}")).collect()
    }

    #[test]
    fn keys_are_built_as_people_write_them() {
        let wait = || SeriesKey::new(ExperimentId::C2, "nanosleep").span(Nanos::from_micros(1_500));
        assert_eq!(wait(), "C2/nanosleep/1.5ms");
        assert_eq!(wait().setting("slack", &Setting::Nanos(Nanos(1))), "C2/nanosleep/1.5ms/slack=1ns");
        assert_eq!(wait().word(ClockRole::Coarse), "C2/nanosleep/1.5ms/coarse");
        assert_eq!(wait().named("load", "spin:2"), "C2/nanosleep/1.5ms/load=spin:2");
        let trial = SeriesKey::of_trial("lower-timer-slack", "poll", Nanos::from_millis(1), TrialSide::After);
        assert_eq!(trial, "trial/lower-timer-slack/poll/1ms/after");
        let observed = SeriesKey::from("Y1/poll/1ms/program=app").tried("lower-timer-slack", TrialSide::After);
        assert_eq!(observed, "trial/lower-timer-slack/poll/1ms/program=app/after");
    }

    #[test]
    fn keys_are_taken_apart() {
        let key = SeriesKey::from("C2/nanosleep/1ms/slack=1ns");
        assert!(key.is_of(ExperimentId::C2) && !key.is_of(ExperimentId::C1));
        assert_eq!(key.subject(), "nanosleep");
        assert!(key.names_tunable("slack") && !key.names_tunable("slac") && !key.names_tunable("resolution"));
        assert_eq!(parts("C2/nanosleep/1ms/slack=1ns"), ["Span(Nanos(1000000))", r#"Named("slack", "1ns")"#]);
        assert_eq!(parts("A1/tsc"), [""; 0]);
        assert_eq!(parts("D1/blocked/coarse"), [r#"Word("coarse")"#]);
        let trial = SeriesKey::from("trial/lower-timer-slack/poll/1ms/after");
        assert_eq!(trial.subject(), "poll");
        assert_eq!(parts(trial.as_str()), ["Span(Nanos(1000000))", r#"Word("after")"#]);
    }

    #[test]
    fn a_name_that_reads_as_a_part_stays_one_part() {
        let key = SeriesKey::new(ExperimentId::Y1, "futex").text("program", "kworker/0:1").text("thread", "a=100%/1ms");
        assert_eq!(key, "Y1/futex/program=kworker%2F0:1/thread=a%3D100%25%2F1ms");
        assert_eq!(key.parts().count(), 2);
    }

    #[test]
    fn any_text_can_stand_in_a_file() {
        for text in ["", "/", "B5", "trial", "B5//=", "a\nb"] {
            let key: SeriesKey = serde_json::from_value(text.into()).unwrap();
            assert_eq!((key.as_str(), serde_json::to_value(&key).unwrap()), (text, text.into()));
            let _ = (key.subject(), key.parts().count(), key.is_of(ExperimentId::B5));
        }
    }
}
