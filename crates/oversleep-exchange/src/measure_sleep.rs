//! MeasureSleep: one line a sleep. <https://github.com/valleyofdoom/TimerResolution>

use std::collections::BTreeMap;

use oversleep_record::conditions::{Held, Setting};
use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::{ExperimentId, Nanos, label};

use crate::draft::{Draft, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

pub const TEXT: Format = Format {
    name: "MeasureSleep text",
    knows: |text| text.lines().take(8).any(|(_, line)| line.starts_with("Resolution: ") && line.contains(") slept ")),
    read,
};

/// `Resolution: 0.5000ms, Sleep(1) slept 1.4967ms (delta: 0.4967)`, also with `Sleep(n=1)`.
fn read(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    let mut all: BTreeMap<(i64, i64), Values> = BTreeMap::new();
    for (line, row) in text.lines().filter(|(_, row)| row.starts_with("Resolution: ")) {
        let between = |begin: &str, end: &str| {
            let found = row.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(found, _)| found);
            found.ok_or_else(|| Fault::Line(line, format!("'{}' is missing", begin.trim())))
        };
        let millis = |word: &str| number::<f64>(line, word, "a number of ms").and_then(|ms| span_ns(line, ms, 1e6));
        let request = between("Sleep(", ")")?;
        let request = millis(request.strip_prefix("n=").unwrap_or(request))?;
        let late = millis(between("slept ", "ms")?)?.saturating_sub(request);
        all.entry((millis(between("Resolution: ", "ms")?)?, request)).or_default().record(line, late, 1)?;
    }
    draft.os = "windows";
    draft.note("Lateness is the time slept, by the performance counter, less the time requested.");
    let resolutions: Vec<i64> = all.keys().map(|(resolution, _)| *resolution).collect();
    let is_one = resolutions.windows(2).all(|pair| pair[0] == pair[1]);
    for ((resolution, request), values) in all {
        let resolution = Nanos(resolution);
        let mut series = lateness(ExperimentId::B5, "sleep", Some(Nanos(request)));
        if is_one {
            draft.fact(FactName::TimerPeriodNow, FactValue::Nanos(resolution), "Resolution");
        } else {
            series.key = series.key.named("resolution", resolution.as_typed());
            series.labels.set(label::HELD, Held::Setting(Setting::Nanos(resolution)));
        }
        draft.add(series, values);
    }
    Ok(draft)
}
