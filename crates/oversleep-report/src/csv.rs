//! The series of a result and the answers of `ask` as comma-separated values (RFC 4180), for spreadsheets and scripts: one
//! line each, figures of a series in its unit. A line without values has empty figures: unknown is never zero.

use oversleep_record::{ResultFile, Series};
use serde::Serialize;
use serde_json::Value;

use crate::ask::{Reply, document};

/// A head, and the text of its field.
type Column = (&'static str, fn(&Series) -> String);

/// The columns of series.
const COLUMNS: [Column; 15] = [
    ("key", |series| series.key.to_string()),
    ("experiment", |series| series.experiment.to_string()),
    ("subject", |series| series.subject.clone()),
    ("quantity", |series| word(&series.quantity)),
    ("unit", |series| word(&series.unit)),
    ("requested_ns", |series| text(series.requested_ns.map(|span| span.0))),
    ("rounded_ns", |series| text(series.rounded_ns.map(|span| span.0))),
    ("conditions", |series| series.conditions.to_string()),
    ("count", |series| series.distribution.count().to_string()),
    ("min", |series| text(series.distribution.min())),
    ("p50", |series| text(series.distribution.quantile(0.5))),
    ("p90", |series| text(series.distribution.quantile(0.9))),
    ("p99", |series| text(series.distribution.quantile(0.99))),
    ("max", |series| text(series.distribution.max())),
    ("mean", |series| text(series.distribution.mean())),
];

/// One line for each series, after a line of heads.
pub fn series(file: &ResultFile) -> String {
    let heads = line(COLUMNS.map(|(head, _)| head.to_owned()));
    let lines = file.series.iter().map(|series| line(COLUMNS.map(|(_, field)| field(series))));
    std::iter::once(heads).chain(lines).collect()
}

/// The fields of an answer by their names in JSON.
const ANSWER_FIELDS: [&str; 12] = [
    "machine", "question", "quantity", "count", "mean_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "rule",
    "reason",
];

/// One line for each reply, after a line of heads.
pub fn answers(replies: &[Reply]) -> String {
    let field = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let heads = line(ANSWER_FIELDS.map(str::to_owned));
    let document = document(replies);
    let lines =
        document.as_array().into_iter().flatten().map(|reply| line(ANSWER_FIELDS.map(|name| field(&reply[name]))));
    std::iter::once(heads).chain(lines).collect()
}

fn line(fields: impl IntoIterator<Item = String>) -> String {
    fields.into_iter().map(|field| quoted(&field)).collect::<Vec<_>>().join(",") + "\r\n"
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The word as in the result file.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// Quotes a field if necessary. A field that a spreadsheet would take for a formula gets an apostrophe in front.
fn quoted(field: &str) -> String {
    let is_formula =
        field.starts_with(['=', '+', '@', '\t', '\r']) || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Conditions, Setting};
    use oversleep_record::testing::{Sheet, held, rounds};
    use oversleep_record::{Distribution, Nanos, Unavailable};

    use super::*;

    #[test]
    fn every_field_of_a_series_is_beneath_its_head() {
        let slack = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
        let mut series = rounds("B5/nanosleep/300us", &[11, 13, 17, 19, 23, 29, 31, 37, 41, 47], 7);
        series.distribution = Distribution::of_counts([(11, 49), (23, 10), (37, 31), (41, 9), (47, 1)]);
        series.rounded_ns = Some(Nanos::from_millis(1));
        series.conditions = held(slack);
        let file = Sheet::linux().series(series).unavailable("A1/tsc", Unavailable::NotOnThisPlatform).file;
        assert_eq!(
            super::series(&file),
            "key,experiment,subject,quantity,unit,requested_ns,rounded_ns,conditions,count,min,p50,p90,p99,max,mean\r\n\
             B5/nanosleep/300us,B5,nanosleep,lateness,ns,300000,1000000,slack=1 ns,100,11,23,37,41,47,23.32\r\n\
             A1/tsc,A1,tsc,cost,ps,,,as found,0,,,,,,\r\n"
        );
    }

    #[test]
    fn every_reply_is_a_line_also_without_an_answer() {
        let refused = Reply {
            machine: "windows-11".to_owned(),
            modelled: None,
            changes: Vec::new(),
            question: "epoll-wait(1ms)".parse().expect("it is a question"),
            under: Vec::new(),
            answer: Err("it has no such wait, and no other".to_owned()),
        };
        assert_eq!(
            answers(&[refused]),
            "machine,question,quantity,count,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,rule,reason\r\n\
             windows-11,epoll-wait(1ms),,,,,,,,,,\"it has no such wait, and no other\"\r\n"
        );
    }

    #[test]
    fn texts_are_neither_fields_nor_formulas() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("-5"), "-5");
        assert_eq!(quoted("-cmd"), "'-cmd");
    }
}
