//! What Sysinternals' clockres prints. <https://learn.microsoft.com/sysinternals/downloads/clockres>

use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::{Nanos, Series};

use crate::draft::{Draft, Values, stated_resolution};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

pub const TEXT: Format = Format {
    name: "clockres text",
    knows: |text| text.lines().take(12).any(|(_, line)| line.starts_with("Current timer interval:")),
    read,
};

fn read(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    draft.os = "windows";
    draft.imported.version =
        text.first().strip_prefix("Clockres v").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    draft.note("It states the timer's period at one moment, and no wait.");
    for (line, row) in text.lines() {
        let Some((name, value)) = row.split_once(" timer interval:") else { continue };
        let ms: f64 = number(line, value.trim().trim_end_matches("ms").trim(), "a number of ms")?;
        let period = span_ns(line, ms, 1e6)?;
        let fact = match name {
            "Maximum" => FactName::TimerPeriodDefault,
            "Minimum" => FactName::TimerPeriodMin,
            "Current" => FactName::TimerPeriodNow,
            _ => continue,
        };
        draft.fact(fact, FactValue::Nanos(Nanos(period)), "timer interval");
        if name == "Current" {
            let series: Series = stated_resolution();
            let mut values = Values::default();
            values.record(line, period, 1)?;
            draft.add(series, values);
        }
    }
    Ok(draft)
}
