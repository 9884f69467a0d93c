//! The report of `powercfg /energy`: which program holds which timer resolution.
//! <https://learn.microsoft.com/windows-hardware/design/device-experiences/powercfg-command-line-options#energy>

use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::{Nanos, label};

use crate::draft::{Draft, Values, stated_resolution};
use crate::text::{Text, number};
use crate::{Fault, Format};

/// Periods are in units of 100 ns.
const UNIT_NS: i64 = 100;

pub const REPORT: Format = Format {
    name: "powercfg energy report",
    knows: |text| text.all().contains("<html") && text.all().contains("Power Efficiency Diagnostics Report"),
    read,
};

fn read(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    draft.os = "windows";
    draft.note("It states who requested which timer resolution while the report was made, and no wait.");
    let mut period: Option<i64> = None;
    let mut is_seen = false;
    let cells = cells(text.all());
    for (at, cell) in cells.iter().enumerate() {
        let next = cells.get(at + 1).copied().unwrap_or_default();
        match *cell {
            "OS Build" => {
                let build = next.split('.').next().unwrap_or_default();
                draft.fact(FactName::OsBuild, FactValue::Integer(number(0, build, "a build")?), "OS Build");
            }
            "Current Timer Resolution (100ns units)" => {
                let now = number::<i64>(0, next, "a period")?.saturating_mul(UNIT_NS);
                draft.fact(FactName::TimerPeriodNow, FactValue::Nanos(Nanos(now)), "Current Timer Resolution");
                add(&mut draft, None, now)?;
                is_seen = true;
            }
            "Requested Period" => period = Some(number::<i64>(0, next, "a period")?.saturating_mul(UNIT_NS)),
            "Requesting Process Path" => {
                if let Some(period) = period.take() {
                    // A folder may name a person.
                    let program = next.rsplit(['\\', '/']).next().unwrap_or(next);
                    draft.note(format!("{program} requested {}.", Nanos(period)));
                    add(&mut draft, Some(program), period)?;
                    is_seen = true;
                }
            }
            _ => {}
        }
    }
    if is_seen {
        Ok(draft)
    } else if !text.all().contains("</html>") {
        Err(Fault::Line(0, "its end is missing".to_owned()))
    } else {
        Err(Fault::NoResult("no program held a timer resolution while it was made".to_owned()))
    }
}

/// Adds what a program requested, or what was in effect.
fn add(draft: &mut Draft, program: Option<&str>, period: i64) -> Result<(), Fault> {
    let mut series = stated_resolution();
    if let Some(program) = program {
        series.key = series.key.text("program", program);
        series.labels.set(label::PROGRAM, program.to_owned());
    }
    let mut values = Values::default();
    values.record(0, period, 1)?;
    draft.add(series, values);
    Ok(())
}

/// The texts between the tags.
fn cells(html: &str) -> Vec<&str> {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text).trim());
    parts.filter(|text| !text.is_empty()).collect()
}
