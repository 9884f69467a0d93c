//! Which rows a question is about: `subject=nanosleep request=1ms since=7d`.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::Nanos;
use oversleep_record::words::counted;

use super::group::{AS_FOUND, Cell, Group, UNKNOWN, in_words};
use super::typed::{alternatives, tokens, unquoted};
use super::{QueryError, time};
use crate::column::Column;
use crate::row::Row;

/// How many values of a column are looked at for the most similar one.
const KNOWN_MAX: usize = 10_000;
/// How many of them a message has.
const LISTED: usize = 8;

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
    /// The group as the user wrote it.
    name: String,
    group: Group,
    is_negated: bool,
    /// Any of them.
    patterns: Vec<Pattern>,
}

/// One of the values of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// As the user wrote it.
    typed: String,
    /// As rows hold it, any of these. `*` stands for any text, and an empty one for what isn't known.
    held: Vec<String>,
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
                    let pattern = |typed: String| {
                        let held = held(&group, name, &typed)?;
                        Ok(Pattern { typed, held })
                    };
                    let patterns = alternatives(value).map(pattern).collect::<Result<_, QueryError>>()?;
                    filter.tests.push(Test { name: name.to_owned(), group, is_negated, patterns });
                }
            }
        }
        Ok(filter)
    }

    /// A filter in which machines may also be meant by the names that the archive has for them: source → name.
    #[must_use]
    pub fn with_names(mut self, names: &BTreeMap<String, String>) -> Filter {
        for test in self.tests.iter_mut().filter(|test| test.group == Group::Column(Column::Source)) {
            for pattern in &mut test.patterns {
                let meant = names.iter().filter(|(_, name)| pattern.is(name)).map(|(source, _)| source.clone());
                let meant: Vec<String> = meant.collect();
                pattern.held.extend(meant);
            }
        }
        self
    }

    /// The columns that it takes.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let moments = (self.since_us.is_some() || self.until_us.is_some()).then_some(Column::Taken);
        self.tests.iter().map(|test| test.group.column()).chain(moments)
    }

    /// Its values, none of which has been met in a row.
    pub fn unmet(&self) -> Unmet {
        let of = |(test, one): (usize, &Test)| (0..one.patterns.len()).map(move |pattern| (test, pattern));
        Unmet { left: self.tests.iter().enumerate().flat_map(of).collect(), known: BTreeMap::new() }
    }

    /// Whether a row is meant.
    pub fn takes(&self, row: &Row) -> bool {
        self.is_within(row) && self.tests.iter().all(|test| test.holds(row))
    }

    /// Whether a row is of its time.
    pub fn is_within(&self, row: &Row) -> bool {
        self.since_us.is_none_or(|since| row.taken_us >= since)
            && self.until_us.is_none_or(|until| row.taken_us < until)
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
        self.patterns.iter().any(|pattern| pattern.is(&value)) != self.is_negated
    }
}

impl Pattern {
    fn is(&self, value: &str) -> bool {
        self.held.iter().any(|held| matches(held, value))
    }
}

/// A value as rows hold it: what a table shows selects what it is shown for.
fn held(group: &Group, name: &str, typed: &str) -> Result<Vec<String>, QueryError> {
    let mut held = vec![typed.to_owned()];
    match group {
        Group::HourOfDay => held.extend(typed.parse::<u8>().map(|hour| format!("{hour:02}:00"))),
        Group::Column(Column::Conditions) if typed == AS_FOUND => held.push(String::new()),
        group if typed == UNKNOWN && group.may_be_unknown() => held.push(String::new()),
        Group::Column(Column::RequestNs) if !typed.is_empty() && !typed.bytes().all(|byte| byte.is_ascii_digit()) => {
            let wrong = |why: String| QueryError::Value { name: name.to_owned(), value: typed.to_owned(), why };
            held =
                vec![typed.replace(' ', "").parse::<Nanos>().map_err(|error| wrong(error.to_string()))?.0.to_string()];
        }
        _ => {}
    }
    Ok(held)
}

/// The values of a filter that no row has so far, with those that rows have instead.
#[derive(Clone, Debug)]
pub struct Unmet {
    /// The places of tests and of their values.
    left: Vec<(usize, usize)>,
    /// What rows have, by the place of a test.
    known: BTreeMap<usize, BTreeSet<Cell>>,
}

impl Unmet {
    /// Whether every value has been met.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Looks at a row of the filter's days.
    pub fn look(&mut self, filter: &Filter, row: &Row) {
        if !filter.is_within(row) {
            return;
        }
        let known = &mut self.known;
        self.left.retain(|&(at, pattern)| {
            let test = &filter.tests[at];
            let value = test.group.of(row);
            if test.patterns[pattern].is(value.as_deref().unwrap_or_default()) {
                return false;
            }
            let known = known.entry(at).or_default();
            if known.len() < KNOWN_MAX {
                known.insert(value);
            }
            true
        });
    }

    /// A sentence for each value that no row has, and whether no row can pass the filter for that. Machines are known by
    /// their names: source → name.
    pub fn sentences(&self, filter: &Filter, names: &BTreeMap<String, String>) -> (Vec<String>, bool) {
        let sentences = self.left.iter().map(|&(at, pattern)| {
            let Test { name, group, patterns, .. } = &filter.tests[at];
            let word = |cell: &Cell| match (group, cell) {
                (Group::Column(Column::Source), Some(source)) => names.get(source).unwrap_or(source).clone(),
                (group, cell) => in_words(group, cell),
            };
            let known: BTreeSet<String> = self.known.get(&at).into_iter().flatten().map(word).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            unmet(&format!("{name}={}", patterns[pattern].typed), &patterns[pattern].typed, &known)
        });
        let is_unmet = |at: usize, test: &Test| {
            !test.is_negated && (0..test.patterns.len()).all(|pattern| self.left.contains(&(at, pattern)))
        };
        (sentences.collect(), filter.tests.iter().enumerate().any(|(at, test)| is_unmet(at, test)))
    }
}

/// What is said of a value that no row has.
fn unmet(test: &str, typed: &str, known: &[&str]) -> String {
    let near =
        oversleep_record::nearest(typed, known).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    let (listed, more) = known.split_at(known.len().min(LISTED));
    let more =
        if more.is_empty() { String::new() } else { format!(" and {}", counted(more.len() as u64, "more value")) };
    let begin = if near.is_empty() { "the" } else { "The" };
    match known {
        [] => format!("no row has {test}"),
        [only] => format!("no row has {test}; {near}{begin} only value is {only}"),
        many if many.len() > LISTED && !near.is_empty() => format!("no row has {test}; {}", near.trim_end()),
        _ => format!("no row has {test}; {near}{begin} values are {}{more}", listed.join(", ")),
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
            "kernel=unknown",
            "kernel!=6.6",
            "label.cpu=unknown",
            "conditions='as found'",
            "request='1 ms'",
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
            "kernel!=unknown",
            "processor=unknown",
            "conditions!='as found'",
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
    fn values_that_no_row_has_are_told_with_those_that_rows_have() {
        let names = [("a86a".to_owned(), "web-17".to_owned())].into();
        let rows =
            ["nanosleep", "poll"].map(|wait| Row { subject: wait.to_owned(), source: "a86a".to_owned(), ..row() });
        let told = |text: &str| {
            let filter = Filter::read(text, 1_700_000_000_000_000).unwrap().with_names(&names);
            let mut unmet = filter.unmet();
            rows.iter().for_each(|row| unmet.look(&filter, row));
            assert_eq!(unmet.is_empty(), unmet.sentences(&filter, &names).0.is_empty());
            unmet.sentences(&filter, &names)
        };
        for (text, sentence, is_nothing) in [
            (
                "wait=nanoslep",
                "no row has wait=nanoslep; did you mean 'nanosleep'? The values are nanosleep, poll",
                true,
            ),
            (
                "wait!=nanoslep",
                "no row has wait=nanoslep; did you mean 'nanosleep'? The values are nanosleep, poll",
                false,
            ),
            ("wait=poll,zzz", "no row has wait=zzz; the values are nanosleep, poll", false),
            ("machine=wbe-17", "no row has machine=wbe-17; did you mean 'web-17'? The only value is web-17", true),
            ("request=2ms", "no row has request=2ms; the only value is 1 ms", true),
            ("kernel=6.6", "no row has kernel=6.6; the only value is unknown", true),
            ("wait=poll since=1h until=0h", "no row has wait=poll", true),
        ] {
            assert_eq!(told(text), (vec![sentence.to_owned()], is_nothing), "{text}");
        }
        let many: Vec<String> = (100..300).map(|host| format!("host-{host}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(unmet("host=hots-117", "hots-117", &many), "no row has host=hots-117; did you mean 'host-117'?");
        assert!(unmet("host=x", "x", &many).ends_with("host-106, host-107 and 192 more values"));
        assert_eq!(told("wait=poll machine=web-* kernel=unknown request=1ms").0, [""; 0]);
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
