//! The cost of one read of each clock (A1).

use oversleep_explain::verdicts::{ClockVerdict, Validity, clock_table};
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::{Drawing, Entry};
use crate::picture::{ClockCost, CostBars, UnavailableClock};

pub const ENTRY: Entry =
    Entry { name: "clock-cost", experiment: Some(ExperimentId::A1), draw: |file| drawing(file).into_iter().collect() };

/// Steps up to this are typical of any fine clock and need no remark.
const FINE_STEP: Nanos = Nanos(1_000);

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let rows = clock_table(file).rows;
    let clocks: Vec<ClockCost> = rows.iter().filter_map(clock).collect();
    let unavailable = |row: &ClockVerdict| {
        Some(UnavailableClock { label: row.name.clone(), reason: row.unavailable.as_ref()?.to_string() })
    };
    let unavailable = rows.iter().filter_map(unavailable).collect();
    let note = "Medians of batches; nothing is subtracted.";
    (!clocks.is_empty()).then(|| {
        Drawing::new("Cost of one read of each clock", note, move |frame| CostBars { frame, clocks, unavailable })
    })
}

fn clock(row: &ClockVerdict) -> Option<ClockCost> {
    let reasons = row.reasons.join("; ");
    let step = row.step_ns.filter(|&step| step > FINE_STEP).map(|step| format!("step {step}"));
    Some(ClockCost {
        label: row.name.clone(),
        cost_ns: row.cost_ps? as f64 / 1e3,
        remark: match row.validity {
            Some(Validity::Valid) => step.unwrap_or_default(),
            _ => format!("unproven: {reasons}"),
        },
        objection: (row.validity == Some(Validity::Invalid)).then_some(reasons),
    })
}
