//! Which rows a question is about: `subject=nanosleep request=1ms since=7d`.

use std::collections::BTreeMap;

use oversleep_record::Nanos;

use super::group::Group;
use super::{QueryError, time};
use crate::column::Column;
use crate::row::Row;

/// Which rows a question is about. The default takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Rows taken from then on, in µs since 1970.
    pub since_us: Option<i64>,
    /// Rows taken before then.
    pub until_us: Option<i64>,
    tests: Vec<Test>,
}

/// One test of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Test {
    group: Group,
    is_negated: bool,
    /// Any of them. `*` stands for any text, and an empty one for what isn't known.
    patterns: Vec<String>,
}

impl Filter {
    /// Reads tests with blanks between them. Values with blanks or commas stand in quotes; `now_us` is what `since=7d` goes
    /// back from.
    ///
    /// # Errors
    /// The first test that can't be read.
    pub fn read(text: &str, now_us: i64) -> Result<Filter, QueryError> {
        let mut filter = Filter::default();
        for word in tokens(text)? {
            let (name, value) = word.split_once('=').ok_or_else(|| QueryError::NoTest(unquoted(&word)))?;
            let (name, is_negated) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
            if name.is_empty() || value.is_empty() {
                return Err(QueryError::NoTest(unquoted(&word)));
            }
            match name {
                "since" => filter.since_us = Some(time::moment(name, &unquoted(value), now_us)?),
                "until" => filter.until_us = Some(time::moment(name, &unquoted(value), now_us)?),
                _ => {
                    let group: Group = name.parse()?;
                    let patterns = alternatives(value).map(|value| pattern(&group, name, value));
                    filter.tests.push(Test { patterns: patterns.collect::<Result<_, _>>()?, group, is_negated });
                }
            }
        }
        Ok(filter)
    }

    /// The same where machines may also be meant by the names that the archive has for them: source → name.
    #[must_use]
    pub fn with_names(mut self, names: &BTreeMap<String, String>) -> Filter {
        for test in self.tests.iter_mut().filter(|test| test.group == Group::Column(Column::Source)) {
            let is_meant = |name: &String| test.patterns.iter().any(|pattern| matches(pattern, name));
            let sources: Vec<String> =
                names.iter().filter(|(_, name)| is_meant(name)).map(|(source, _)| source.clone()).collect();
            test.patterns.extend(sources);
        }
        self
    }

    /// The columns that it takes.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let moments = (self.since_us.is_some() || self.until_us.is_some()).then_some(Column::Taken);
        self.tests.iter().map(|test| test.group.column()).chain(moments)
    }

    /// Whether a row is meant.
    pub fn takes(&self, row: &Row) -> bool {
        self.since_us.is_none_or(|since| row.taken_us >= since)
            && self.until_us.is_none_or(|until| row.taken_us < until)
            && self.tests.iter().all(|test| test.holds(row))
    }

    /// Whether rows of a day may be meant; `day_us` is its beginning.
    pub fn takes_day(&self, day_us: i64) -> bool {
        let end_us = day_us.saturating_add(86_400_000_000);
        self.since_us.is_none_or(|since| end_us > since) && self.until_us.is_none_or(|until| day_us < until)
    }
}

impl Test {
    fn holds(&self, row: &Row) -> bool {
        let value = self.group.of(row).unwrap_or_default();
        self.patterns.iter().any(|pattern| matches(pattern, &value)) != self.is_negated
    }
}

/// The pattern of a value as rows hold it.
fn pattern(group: &Group, name: &str, value: String) -> Result<String, QueryError> {
    if let (Group::HourOfDay, Ok(hour)) = (group, value.parse::<u8>()) {
        return Ok(format!("{hour:02}:00"));
    }
    if *group != Group::Column(Column::RequestNs) || value.is_empty() || value.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Ok(value);
    }
    match value.parse::<Nanos>() {
        Ok(span) => Ok(span.0.to_string()),
        Err(error) => Err(QueryError::Value { name: name.to_owned(), value, why: error.to_string() }),
    }
}

/// Whether a text is as the pattern says; `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    let mut parts = rest.split('*').collect::<Vec<_>>();
    let tail = parts.pop().unwrap_or_default();
    let mut text = text;
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}

/// The words between blanks; blanks in quotes don't count. Quotes are kept.
fn tokens(text: &str) -> Result<Vec<String>, QueryError> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in text.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.push(letter);
            }
            (letter, Some(open)) if letter == open => {
                quote = None;
                word.push(letter);
            }
            (letter, None) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    if quote.is_some() { Err(QueryError::OpenQuote(text.to_owned())) } else { Ok(words) }
}

/// The values between commas; commas in quotes don't count.
fn alternatives(value: &str) -> impl Iterator<Item = String> {
    let (mut all, mut one, mut quote) = (Vec::new(), String::new(), None);
    for letter in value.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (',', None) => all.push(std::mem::take(&mut one)),
            (letter, _) => one.push(letter),
        }
    }
    all.push(one);
    all.into_iter()
}

fn unquoted(text: &str) -> String {
    text.replace(['"', '\''], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Machine;

    fn row() -> Row {
        Row {
            taken_us: 1_700_000_000_000_000,
            subject: "nanosleep".to_owned(),
            request_ns: Some(1_000_000),
            machine: Machine { cpu_model: Some("AMD EPYC 7763, 64 cores".to_owned()), ..Machine::default() },
            labels: [("program".to_owned(), "app".to_owned())].into(),
            ..Row::default()
        }
    }

    #[test]
    fn rows_are_selected_by_name_value_and_time() {
        let takes = |text: &str| Filter::read(text, 1_700_000_000_000_000).unwrap().takes(&row());
        for text in [
            "",
            "subject=nanosleep",
            "wait=poll,nanosleep request=1ms",
            "request=1000000",
            "subject=nano* cpu_model='AMD EPYC 7763, 64 cores'",
            "processor=*EPYC*64*",
            "subject!=poll since=7d",
            "since=2023-11-14 until=2023-11-15",
            "disturbed=no",
            "label.program=app",
            "kernel=''",
        ] {
            assert!(takes(text), "{text}");
        }
        for text in [
            "subject=poll",
            "request=2ms",
            "until=7d",
            "subject!=nano*",
            "label.program=b*",
            "kernel=6*",
            "since=0s until=1h",
        ] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn a_machine_is_meant_by_its_name_and_an_hour_by_its_number() {
        let row = Row { source: "a86a0b1c5dd2c660".to_owned(), ..row() };
        let names =
            [("a86a0b1c5dd2c660".to_owned(), "host-0165".to_owned()), ("b".to_owned(), "web-1".to_owned())].into();
        let takes = |text: &str| Filter::read(text, 0).unwrap().with_names(&names).takes(&row);
        for text in ["machine=host-0165", "host=host-*", "source=a86a0b1c5dd2c660", "machine!=web-1", "hour_of_day=22"]
        {
            assert!(takes(text), "{text}");
        }
        for text in ["machine!=host-0165", "machine=web-*", "hour_of_day=3"] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn days_that_hold_none_of_the_rows_are_passed_over() {
        let filter = Filter::read("since=2023-11-14T12:00 until=2023-11-16", 0).unwrap();
        let day = 86_400_000_000;
        let first = 19_675 * day;
        assert_eq!([-1, 0, 1, 2].map(|after| filter.takes_day(first + after * day)), [false, true, true, false]);
    }

    #[test]
    fn what_is_wrong_with_a_test_is_said() {
        let error = |text: &str| Filter::read(text, 0).unwrap_err().to_string();
        assert_eq!(error("nanosleep"), "'nanosleep' is no test; write a name and a value, like subject=nanosleep");
        assert!(error("subjct=a").contains("did you mean 'subject'?"));
        assert_eq!(error("kernel='6"), "a quote doesn't end in 'kernel='6'");
        assert!(error("since=yesterday").starts_with("since=yesterday: write how long ago, like 7d"));
        assert!(error("request=fast").starts_with("request=fast: "));
    }
}
