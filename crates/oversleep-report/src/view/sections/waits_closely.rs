//! Every wait at the request that most programs make (B5): its whole distribution.

use oversleep_record::{ExperimentId, ResultFile, Series};

use super::waits::{find, in_order};
use super::{Entry, detail};
use crate::view::select::{common_request, measured};
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::grouped;

pub const ENTRY: Entry =
    Entry { id: "waits-closely", title: "Waits: one request in detail", experiments: &[ExperimentId::B5], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let Some(common) = common_request(measured(file, ExperimentId::B5)).filter(|_| !detail::is_close_up(file)) else {
        return section;
    };
    let noticed = |count: u64| grouped(count).toned(if count > 0 { Tone::Warn } else { Tone::Soft });
    let columns = Columns::new()
        .subject("wait")
        .figure("rounded to", |series: &&Series| series.rounded_ns.filter(|_| series.rounded_ns != series.requested_ns))
        .rank(4)
        .min_and_median()
        .percentile("p90", 0.9)
        .rank(2)
        .percentile("p99", 0.99)
        .rank(1)
        .percentile("p99.9", 0.999)
        .rank(2)
        .max()
        .figure("early", move |series| noticed(series.counts.early))
        .rank(2)
        .figure("missed", move |series| series.counts.expected.map(|_| noticed(series.counts.missed)))
        .rank(1)
        .figure("count", |series| match series.counts.expected {
            Some(expected) if expected != series.counts.recorded => {
                format!("{} of {}", grouped(series.counts.recorded), grouped(expected))
            }
            _ => grouped(series.counts.recorded),
        })
        .rank(2);
    let rows = in_order(file, common).into_iter().filter_map(|wait| find(file, wait, common));
    section.tables(columns.table(format!("Lateness of each wait of {common}, least late first"), rows)).notes([
        "A percentile is shown only if at least ten values lie beyond it. Missed: deadlines that had passed before the wait \
         could be called."
            .to_owned(),
    ])
}
