//! parkNanos as published (B10): the mean of a thousand calls, as the original printed it.

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section};
use crate::words::median;

pub const ENTRY: Entry =
    Entry { id: "park-nanos", title: "parkNanos as published", experiments: &[ExperimentId::B10], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let late = |series: &Series, lateness: f64| Some(series.requested_ns? + Nanos(lateness.round() as i64));
    let columns = Columns::new()
        .words("runtime", |series: &&Series| {
            series.runtime.as_ref().map_or("system".to_owned(), |runtime| runtime.to_string())
        })
        .words("call", |series| series.subject.as_str())
        .figure("requested", |series| series.requested_ns)
        .figure("count", |series| series.counts.recorded)
        .figure("each took (mean)", move |series| late(series, series.distribution.mean()?))
        .figure("p50", move |series| late(series, series.distribution.p50()? as f64))
        .rank(1)
        .figure("lateness p50", |series| median(series.unit, &series.distribution))
        .rank(2)
        .figure("max", move |series| late(series, series.distribution.max()? as f64))
        .rank(3);
    section.tables(columns.table(
        "Duration of a call; the original divided the total by the number of calls",
        measured(file, ExperimentId::B10),
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::view::sections::generic::texts;

    #[test]
    fn a_call_takes_what_was_requested_and_its_lateness() {
        let sheet = Sheet::linux()
            .steady("B10/cond-timedwait/55us", 52_000)
            .steady("B10/LockSupport.parkNanos/55us/java-17", 53_000)
            .of_runtime("java", "17.0.15");
        let section = build(&sheet.file, Section::new("park-nanos", "parkNanos"));
        let all = texts(&section.tables[0]);
        assert_eq!(all[1][..5], ["system", "cond-timedwait", "55 µs", "80", "107 µs"]);
        assert_eq!(all[2][..5], ["java 17.0.15", "LockSupport.parkNanos", "55 µs", "80", "108 µs"]);
    }
}
