//! The gains of remedies in their trials: a picture for each.

use oversleep_record::trial::Trial;
use oversleep_record::{ResultFile, Series};

use super::{Drawing, Entry, us};
use crate::picture::{BeforeAfter, BeforeAfterRow};
use crate::words::capitalised;

pub const ENTRY: Entry = Entry {
    name: "before-after",
    experiment: None,
    draw: |file| file.trials.iter().filter_map(|trial| drawing(file, trial)).collect(),
};

fn drawing<'a>(file: &'a ResultFile, trial: &'a Trial) -> Option<Drawing<'a>> {
    // The values of the calls, as in the sentences about the same trial.
    let p99 = |series: &Series| series.calls().safe_quantile(0.99).map(us);
    let rows = trial.pairs.iter().filter_map(|pair| {
        let (before, after) = (file.series(&pair.before)?, file.series(&pair.after)?);
        let (before_p50_us, after_p50_us) = (us(before.calls().p50()?), us(after.calls().p50()?));
        let (before_p99_us, after_p99_us, label) = (p99(before), p99(after), after.subject.clone());
        let has_held = after.conditions.all_held();
        has_held.then_some(BeforeAfterRow { label, before_p50_us, before_p99_us, after_p50_us, after_p99_us })
    });
    let rows: Vec<BeforeAfterRow> = rows.collect();
    let remedy = capitalised(&trial.conditions.to_string());
    (!rows.is_empty()).then(|| {
        let heading = format!("Before and after: {}", trial.remedy);
        let svg = move |frame| BeforeAfter { frame, remedy, rows };
        Drawing::new(heading, "Rounds with it and without it alternated.", svg).of(&trial.remedy)
    })
}
