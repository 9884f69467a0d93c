//! Hand-offs between threads (D4): one way, and there and back.

use oversleep_record::label::Way;
use oversleep_record::{ExperimentId, ResultFile, Series, label};

use super::Entry;
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section};
use crate::words::{median, quantile, value};

pub const ENTRY: Entry =
    Entry { id: "hand-offs", title: "Hand-offs: waking another thread", experiments: &[ExperimentId::D4], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let of = |name: &str, way: Way| -> Option<&Series> {
        measured(file, ExperimentId::D4).find(|series| series.subject == name && series.label(label::WAY) == Some(way))
    };
    let p50 = move |name: &str, way: Way| of(name, way).and_then(|series| median(series.unit, &series.distribution));
    let p99 = move |name: &str, way: Way| quantile(of(name, way)?.unit, &of(name, way)?.distribution, 0.99);
    let columns = Columns::new()
        .words("hand-off", |name: &&str| *name)
        .figure("min", move |name| {
            of(name, Way::OneWay).and_then(|found| Some(value(found.unit, found.distribution.min()?)))
        })
        .rank(3)
        .figure("p50", move |name| p50(name, Way::OneWay))
        .figure("p99", move |name| p99(name, Way::OneWay))
        .rank(2)
        .figure("max", move |name| {
            of(name, Way::OneWay).and_then(|found| Some(value(found.unit, found.distribution.max()?)))
        })
        .rank(1)
        .figure("count", move |name| of(name, Way::OneWay).map(|series| series.counts.recorded))
        .rank(4)
        .figure("ping-pong p50", move |name| p50(name, Way::PingPong))
        .figure("ping-pong p99", move |name| p99(name, Way::PingPong))
        .rank(3);
    let mut names = distinct(measured(file, ExperimentId::D4).map(|series| series.subject.as_str()));
    let latency = |name: &str| of(name, Way::OneWay).and_then(|series| series.distribution.p50());
    names.sort_by_cached_key(|name| (latency(name).is_none(), latency(name)));
    section.tables(columns.table("From the signal until the woken thread runs; there and back for ping-pong", names))
}
