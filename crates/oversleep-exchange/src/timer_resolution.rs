//! The table of TimerResolution's benchmark script: the mean lateness of `Sleep(1)` at each requested resolution.
//! <https://github.com/valleyofdoom/TimerResolution>

use oversleep_record::conditions::{Held, Setting};
use oversleep_record::{ExperimentId, Nanos, label};

use crate::draft::{Draft, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

pub const CSV: Format = Format {
    name: "TimerResolution CSV",
    knows: |text| text.first().replace('"', "").to_ascii_lowercase().starts_with("requestedresolutionms,deltams,stdev"),
    read,
};

fn read(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    draft.os = "windows";
    draft.note("Each value is the mean lateness of a few Sleep(1); their number and single values aren't in the file.");
    for (line, row) in text.lines().skip(1) {
        let mut fields = row.split(',').map(|field| {
            number::<f64>(line, field.trim_matches('"'), "a number of ms").and_then(|ms| span_ns(line, ms, 1e6))
        });
        let (Some(held), Some(late)) = (fields.next().transpose()?, fields.next().transpose()?) else {
            return Err(Fault::Line(line, "it has too few fields".to_owned()));
        };
        let mut series = lateness(ExperimentId::B5, "sleep", Some(Nanos::from_millis(1)));
        series.key = series.key.named("resolution", Nanos(held).as_typed());
        series.labels.set(label::HELD, Held::Setting(Setting::Nanos(Nanos(held))));
        if draft.series.iter().any(|known| known.key == series.key) {
            return Err(Fault::Line(line, "its resolution has a line above".to_owned()));
        }
        let mut values = Values::default();
        values.record(line, late, 1)?;
        draft.add(series, values);
    }
    Ok(draft)
}
