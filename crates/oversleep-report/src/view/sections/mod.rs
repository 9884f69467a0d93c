//! The sections of a report, in the order of the experiments they show.
//!
//! A section of its own is a file here with an [`Entry`], and that entry's line in `REGISTRY`. An experiment that no
//! entry names is shown by the generic section, so a new experiment needs no edit here.

mod clock_values;
pub mod clocks;
mod coalescing;
mod detail;
mod disturbance;
mod engines;
mod generations;
mod generic;
mod handoffs;
mod holding_cost;
mod idle;
mod load;
pub mod neighbour_clocks;
pub mod neighbour_steps;
pub mod neighbours;
mod observed;
mod park_nanos;
mod park_rule;
mod runtime_clocks;
pub mod runtimes;
pub mod slack;
mod spinning;
pub mod split;
pub mod sweep;
pub mod tick_count;
mod unavailable;
mod usleep;
mod waits;
mod waits_closely;
pub mod watch;

use oversleep_lab::verify::{Beside, beside};
use oversleep_measure::{experiment, registry};
use oversleep_record::{ExperimentId, ResultFile};

use super::select;
use super::table::Section;

pub use waits::{find as wait_at, in_order as waits_in_order};

/// A section with tables of its own.
pub struct Entry {
    /// Unique; a word in lower case.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The experiments that it shows instead of the generic section. It stands where the first of them would.
    pub experiments: &'static [ExperimentId],
    /// Fills the empty section; what stays empty is not shown.
    pub build: fn(&ResultFile, Section) -> Section,
}

/// Every section with tables of its own. Those of the same experiment are shown in this order.
const REGISTRY: &[&Entry] = &[
    &clocks::ENTRY,
    &clock_values::ENTRY,
    &sweep::ENTRY,
    &usleep::ENTRY,
    &waits::ENTRY,
    &waits_closely::ENTRY,
    &detail::ENTRY,
    &split::ENTRY,
    &load::ENTRY,
    &spinning::ENTRY,
    &slack::ENTRY,
    &neighbours::ENTRY,
    &holding_cost::ENTRY,
    &coalescing::ENTRY,
    &watch::ENTRY,
    &generations::ENTRY,
    &handoffs::ENTRY,
    &idle::ENTRY,
    &park_rule::ENTRY,
    &park_nanos::ENTRY,
    &runtimes::ENTRY,
    &runtime_clocks::ENTRY,
    &tick_count::ENTRY,
    &engines::ENTRY,
    &observed::ENTRY,
    &unavailable::ENTRY,
    &disturbance::ENTRY,
];

/// Every section that has data.
pub fn all(file: &ResultFile) -> Vec<Section> {
    let own =
        |first: Option<ExperimentId>| REGISTRY.iter().filter(move |entry| entry.experiments.first().copied() == first);

    let mut sections = Vec::new();
    for known in registry() {
        sections.extend(own(Some(known.id)).map(|entry| filled(file, entry)));
        if !REGISTRY.iter().any(|entry| entry.experiments.contains(&known.id)) {
            sections.push(generic::section(file, known.id, known.id.as_str().to_lowercase()));
        }
    }
    // What no experiment measures, such as the waits of observed programs, may have a section, too.
    let is_foreign = |entry: &&&Entry| entry.experiments.first().is_some_and(|id| experiment(*id).is_none());
    sections.extend(REGISTRY.iter().filter(is_foreign).map(|entry| filled(file, entry)));
    // The findings show the gains in trials of remedies.
    let has_section = |id: &ExperimentId| REGISTRY.iter().any(|entry| entry.experiments.contains(id));
    let is_unknown = |id: &ExperimentId| experiment(*id).is_none() && *id != ExperimentId::TRIAL && !has_section(id);
    let ids = select::distinct(file.series.iter().map(|series| series.experiment));
    let unknown = ids.into_iter().filter(is_unknown);
    sections.extend(unknown.enumerate().map(|(index, id)| generic::section(file, id, format!("other-{index}"))));
    sections.extend(own(None).map(|entry| filled(file, entry)));
    sections.retain(|section| !section.tables.is_empty() || !section.notes.is_empty());
    sections.iter_mut().for_each(Section::explain_marks);
    sections
}

fn filled(file: &ResultFile, entry: &Entry) -> Section {
    let mut section = Section::new(entry.id, entry.title);
    // Programs are observed, so nothing explains an experiment of that id.
    section.experiments = entry.experiments.iter().copied().filter(|id| experiment(*id).is_some()).collect();
    (entry.build)(file, section)
}

/// Published figures for these experiments on such a system, each beside the figure here, those of a millisecond first.
/// None under Wine, whose figures differ from those of the system it emulates.
pub fn published(file: &ResultFile, ids: &[ExperimentId]) -> Vec<String> {
    let mut all: Vec<Beside> = ids.iter().flat_map(|id| beside(file, *id)).collect();
    all.sort_by_key(|one| !one.figure.contains("(1ms)"));
    all.into_iter().map(in_words).collect()
}

fn in_words(one: Beside) -> String {
    let Beside { id, published, source, figure, here, is_reproduced, of_verify, factor } = one;
    let verdict = match factor {
        Some(factor) => format!("reproduced to within a factor of {factor:.2}, as machines differ"),
        None => if is_reproduced { "reproduced" } else { "not reproduced" }.to_owned(),
    };
    // The row is about the model by itself; this run had another load, or other seeds.
    let verdict = match of_verify {
        Some(model) => format!("{verdict} by `machines verify` ({model})"),
        None => verdict,
    };
    format!("{figure} here: {here}; {id}, {verdict}: {published} ({source})")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use oversleep_record::series::Pace;
    use oversleep_record::testing::Sheet;

    use super::super::testing::complete;
    use super::*;

    #[test]
    fn an_empty_result_has_no_sections() {
        assert_eq!(all(&Sheet::linux().file), []);
    }

    #[test]
    fn a_full_result_shows_every_experiment_once_and_every_row_fits() {
        let file = complete().file;
        let sections = all(&file);
        let ids: HashSet<&str> = sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids.len(), sections.len(), "ids are unique");
        // Programs are observed, not measured: their results have no other section.
        for entry in REGISTRY.iter().filter(|entry| !["detail", "observed"].contains(&entry.id)) {
            assert!(ids.contains(entry.id), "{} of {ids:?}", entry.id);
        }
        for series in file.series.iter().filter(|series| series.experiment != ExperimentId::TRIAL) {
            assert!(
                sections.iter().any(|section| section.experiments.contains(&series.experiment)),
                "{} is shown nowhere",
                series.experiment
            );
        }
        for table in sections.iter().flat_map(|section| &section.tables) {
            assert!(!table.caption.is_empty() && !table.rows.is_empty(), "{table:?}");
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{table:?}");
        }
    }

    #[test]
    fn every_registered_experiment_belongs_to_a_registered_one() {
        for id in REGISTRY.iter().flat_map(|entry| entry.experiments) {
            assert!(experiment(*id).is_some() || *id == ExperimentId::Y1, "{id}");
        }
    }

    #[test]
    fn a_published_line_names_its_figure_its_id_its_source_and_whether_it_holds_here() {
        let mut file = Sheet::linux().steady("B5/nanosleep/1ms", 60_000).file;
        file.series[0].pace = Some(Pace::BackToBack);
        let lines = published(&file, &[ExperimentId::B5]);
        assert!(!lines.is_empty());
        for line in lines {
            assert!(line.starts_with("nanosleep(1ms) here: ") && line.ends_with(')'), "{line}");
            assert!(line.contains(", reproduced: ") || line.contains(", not reproduced: "), "{line}");
        }
    }
}
