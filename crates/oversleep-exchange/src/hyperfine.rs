//! hyperfine: `--export-json` has the time of each run, `--export-csv` the figures of each command.
//! <https://github.com/sharkdp/hyperfine>

use oversleep_record::series::{Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, Series, label};
use serde::Deserialize;

use crate::draft::{Draft, EXPERIMENT, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

/// What the header of its CSV begins with.
const HEAD: &str = "command,mean,stddev,median,user,system,min,max";

pub const JSON: Format = Format {
    name: "hyperfine JSON",
    knows: |text| {
        text.first().starts_with('{')
            && ["\"results\"", "\"command\"", "\"stddev\""].iter().all(|name| text.all().contains(name))
    },
    read: json,
};

#[derive(Deserialize)]
struct File {
    results: Vec<OfCommand>,
}

#[derive(Deserialize)]
struct OfCommand {
    command: String,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
}

fn json(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    let file: File = serde_json::from_str(text.all()).map_err(|error| Fault::Line(error.line(), error.to_string()))?;
    let mut failed = 0;
    for one in &file.results {
        failed += one.exit_codes.iter().filter(|code| **code != Some(0)).count();
        let spans: Result<Vec<i64>, Fault> = one.times.iter().flatten().map(|&time| span_ns(0, time, 1e9)).collect();
        add(&mut draft, &one.command, &spans?)?;
    }
    draft.note(
        "Each value is the time of a whole run of a command, with its start and its end; what an empty shell takes is taken \
         off, unless it ran without one (-N).",
    );
    if failed > 0 {
        draft.note(format!("{failed} runs ended with an error; their times are among the values."));
    }
    Ok(draft)
}

pub const CSV: Format = Format { name: "hyperfine CSV", knows: |text| text.first().starts_with(HEAD), read: csv };

fn csv(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    for (line, row) in text.lines().skip(1) {
        let fields = fields(row);
        let [command, _, _, median, ..] = fields.as_slice() else {
            return Err(Fault::Line(line, "it has too few fields".to_owned()));
        };
        let median: f64 = number(line, median, "a number of seconds")?;
        add(&mut draft, command, &[span_ns(line, median, 1e9)?])?;
    }
    draft.note("Each value is the median of runs whose number isn't stated; `--export-json` has every run.");
    Ok(draft)
}

/// Adds a command's series, and the lateness of a `sleep`.
fn add(draft: &mut Draft, command: &str, spans: &[i64]) -> Result<(), Fault> {
    let mut series = Series::new(EXPERIMENT, "command", Quantity::Duration, Unit::Ns);
    series.key = series.key.text("command", command);
    series.labels.set(label::PROGRAM, command.to_owned());
    let less = |request: i64| {
        let mut all = Values::default();
        spans.iter().try_for_each(|span| all.record(0, span.saturating_sub(request), 1)).map(|()| all)
    };
    draft.add(series, less(0)?);
    if let Some(request) = requested(command) {
        let late = lateness(ExperimentId::B5, "sleep-command", Some(request));
        draft.add(late, less(request.0)?);
    }
    Ok(())
}

/// The time that a command only sleeps for: `sleep 0.01`.
fn requested(command: &str) -> Option<Nanos> {
    let mut words = command.split_whitespace();
    let (name, span, end) = (words.next()?, words.next()?, words.next());
    let seconds: f64 = span.strip_suffix('s').unwrap_or(span).parse().ok()?;
    (name.rsplit('/').next() == Some("sleep") && end.is_none() && seconds > 0.0).then_some(())?;
    span_ns(0, seconds, 1e9).ok().map(Nanos)
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_sleep_states_its_request() {
        let of = |command| requested(command).map(|span| span.0);
        assert_eq!([of("sleep 0.01"), of("/bin/sleep 2s")], [Some(10_000_000), Some(2_000_000_000)]);
        assert_eq!([of("sleep 1 2"), of("sleepy 1"), of("sleep 1m"), of("sleep nan"), of("sleep")], [None; 5]);
    }

    #[test]
    fn fields_may_have_quotes() {
        assert_eq!(fields("\"a, \"\"b\"\"\",1,"), ["a, \"b\"", "1", ""]);
    }
}
