//! The median lateness of every wait by request (B5).

use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, us};
use crate::picture::HeatMap;
use crate::view::sections::{wait_at, waits_in_order};
use crate::view::select::{common_request, measured, requests};

pub const ENTRY: Entry = Entry {
    name: "waits-by-request",
    experiment: Some(ExperimentId::B5),
    draw: |file| drawing(file).into_iter().collect(),
};

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let requests = requests(measured(file, ExperimentId::B5));
    let waits = waits_in_order(file, common_request(measured(file, ExperimentId::B5))?);
    let lateness = |wait: &str, request| Some(us(wait_at(file, wait, request)?.distribution.p50()?));
    let row = |wait: &&str| ((*wait).to_owned(), requests.iter().map(|&request| lateness(wait, request)).collect());
    let rows: Vec<(String, Vec<Option<f64>>)> = waits.iter().map(row).collect();
    let columns: Vec<String> = requests.iter().map(|request| format!("{request:#}")).collect();
    (columns.len() > 1 && rows.len() > 1).then(|| {
        Drawing::new("Median lateness of each wait by the duration requested", "", move |frame| HeatMap {
            frame,
            columns,
            rows,
            ..HeatMap::default()
        })
    })
}
