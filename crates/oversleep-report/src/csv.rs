//! The series of a result and the answers of `ask` as comma-separated values (RFC 4180), for spreadsheets and scripts: one
//! line each, figures of a series in its unit. A line without values has empty figures: unknown is never zero.

use oversleep_record::{ResultFile, Series};
use serde::Serialize;
use serde_json::Value;

use crate::ask::{Reply, document};

const HEADS: &str =
    "key,experiment,subject,quantity,unit,requested_ns,rounded_ns,conditions,count,min,p50,p90,p99,max,mean";

/// One line for each series, after a line of heads.
pub fn series(file: &ResultFile) -> String {
    let lines = file.series.iter().map(line);
    std::iter::once(HEADS.to_owned()).chain(lines).map(|line| line + "\r\n").collect()
}

/// The same fields as in the JSON of an answer.
const ANSWER_HEADS: &str = "machine,question,quantity,count,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,rule,reason";

/// One line for each reply, after a line of heads.
pub fn answers(replies: &[Reply]) -> String {
    let line = |reply: &Value| {
        let field = |head| match &reply[head] {
            Value::Null => String::new(),
            Value::String(text) => quoted(text),
            other => other.to_string(),
        };
        ANSWER_HEADS.split(',').map(field).collect::<Vec<_>>().join(",")
    };
    let document = document(replies);
    let lines = document.as_array().into_iter().flatten().map(line);
    std::iter::once(ANSWER_HEADS.to_owned()).chain(lines).map(|line| line + "\r\n").collect()
}

fn line(series: &Series) -> String {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    /// The word as in the result file.
    fn word(value: &impl Serialize) -> String {
        serde_json::to_value(value).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
    }
    let values = &series.distribution;
    let quantile = |share: f64| text(values.quantile(share));
    let fields = [
        series.key.to_string(),
        series.experiment.to_string(),
        series.subject.clone(),
        word(&series.quantity),
        word(&series.unit),
        text(series.requested_ns.map(|span| span.0)),
        text(series.rounded_ns.map(|span| span.0)),
        series.conditions.to_string(),
        values.count().to_string(),
        text(values.min()),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        text(values.max()),
        text(values.mean()),
    ];
    fields.map(|field| quoted(&field)).join(",")
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
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn every_series_is_a_line_and_no_field_ends_early() {
        let file = crate::view::testing::rich().file;
        let text = series(&file);
        assert_eq!(text.matches("\r\n").count(), file.series.len() + 1);
        assert!(text.starts_with("key,experiment,"));
        assert_eq!(series(&Sheet::linux().file), format!("{HEADS}\r\n"));
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
        let line = "windows-11,epoll-wait(1ms),,,,,,,,,,\"it has no such wait, and no other\"\r\n";
        assert_eq!(answers(&[refused]), format!("{ANSWER_HEADS}\r\n{line}"));
    }

    #[test]
    fn texts_are_neither_fields_nor_formulas() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("-5"), "-5");
        assert_eq!(quoted("-cmd"), "'-cmd");
    }
}
