//! How a neighbour's setting affects several machines: one table and one picture.

use oversleep_record::comparison::Comparison;
use oversleep_record::conditions::HeldSettings;
use oversleep_record::{ExperimentId, Nanos};

use super::sketch::{Beside, Sketch};
use super::{indices, letter, short_name};
use crate::picture::{Frame, MachineCurve, NeighbourCurves, Shape, Sleeps};
use crate::view::bars::bars;
use crate::view::pictures::{Picture, Wanted, source_of};
use crate::view::sections::neighbour_steps::held_in_words;
use crate::view::select::distinct;
use crate::view::table::{Columns, Section, Table};

/// Most results that have a histogram each in a table.
const WITH_BARS_MAX: usize = 3;
/// The width of each.
const BARS: usize = 18;

/// The sleeps of all results beside what neighbours hold.
struct All<'a>(&'a [Sketch]);

impl<'a> All<'a> {
    fn of(&self, experiment: ExperimentId) -> impl Iterator<Item = &'a Beside> {
        self.0.iter().flat_map(|sketch| &sketch.beside).filter(move |beside| beside.experiment == experiment)
    }

    fn steps(&self, experiment: ExperimentId) -> Vec<&'a HeldSettings> {
        distinct(self.of(experiment).map(|beside| &beside.held))
    }

    fn at(&self, result: u32, experiment: ExperimentId, held: &HeldSettings) -> Option<&'a Beside> {
        let sketch = self.0.get(result as usize)?;
        sketch.beside.iter().find(|beside| beside.experiment == experiment && beside.held == *held)
    }

    fn longest(&self) -> Nanos {
        let all = self.0.iter().flat_map(|sketch| &sketch.beside);
        all.filter_map(Beside::longest).max().unwrap_or_default()
    }

    /// The number of results with such sleeps.
    fn results(&self) -> usize {
        self.0.iter().filter(|sketch| !sketch.beside.is_empty()).count()
    }
}

/// Whether a neighbour's setting reached each result's process, where there are several to compare.
pub(super) fn summary(sketches: &[Sketch]) -> impl Iterator<Item = String> {
    let has_several = All(sketches).results() > 1;
    sketches.iter().filter(move |_| has_several).filter_map(|sketch| sketch.about_neighbours.first().cloned())
}

/// The section; nothing unless two results or more have such sleeps.
pub(super) fn section(comparison: &Comparison, sketches: &[Sketch]) -> Option<Section> {
    let all = All(sketches);
    if all.results() < 2 {
        return None;
    }
    let captions = [
        (ExperimentId::C3, "The sleep of a process that requests nothing, by the setting that a neighbour holds"),
        (ExperimentId::C4, "The same with two neighbours: the second starts, then the first exits"),
    ];
    let tables = captions.into_iter().filter_map(|(experiment, caption)| table(comparison, &all, experiment, caption));
    let notes = sketches.iter().flat_map(|sketch| sketch.about_neighbours.iter().cloned());
    Some(Section::new("neighbours", "Neighbours: settings that other processes hold").tables(tables).notes(notes))
}

fn table(comparison: &Comparison, all: &All<'_>, experiment: ExperimentId, caption: &str) -> Option<Table> {
    let longest = all.longest();
    let mut columns = Columns::new().words("held", |held: &&HeldSettings| held_in_words(held));
    let has_bars = comparison.results.len() <= WITH_BARS_MAX;
    for (result, rank) in indices(comparison).zip(0_u8..) {
        let name = letter(result);
        let at = move |held: &&HeldSettings| all.at(result, experiment, held);
        columns = columns
            .figure(format!("{name} stated"), move |held| at(held)?.stated)
            .rank(rank.saturating_add(40))
            .figure(format!("{name} mean"), move |held| at(held)?.mean())
            .rank(rank);
        if has_bars {
            columns = columns
                .bar(format!("{name} 0 to {longest}"), move |held| {
                    let beside = at(held);
                    let bars = beside.map(|beside| bars(beside.durations(), 0.0, longest.0 as f64, BARS));
                    bars.unwrap_or_default().trim_end().to_owned()
                })
                .rank(39);
        }
    }
    columns.table(caption, all.steps(experiment))
}

/// The curve of all results, one picture.
pub(super) fn picture(comparison: &Comparison, sketches: &[Sketch], files: &[String]) -> Option<Picture> {
    let all = All(sketches);
    let id = ExperimentId::C3;
    let steps = all.steps(id);
    let requested = all.of(id).next()?.requested;
    if all.results() < 2 || steps.len() < 2 {
        return None;
    }
    let sleeps = |beside: &Beside| {
        let histogram = beside.durations().map(|(ns, count)| (ns / 1e6, count)).collect();
        Some(Sleeps { mean_ms: beside.mean()?.as_millis_f64(), histogram })
    };
    let machine = |result: u32| MachineCurve {
        label: format!("{}: {}", letter(result), short_name(comparison, result, files)),
        steps: steps.iter().map(|held| sleeps(all.at(result, id, held)?)).collect(),
    };
    let mut curves = NeighbourCurves {
        frame: Frame {
            id: "neighbour-curves".to_owned(),
            heading: "A sleep beside a neighbour that holds a timer resolution".to_owned(),
            note: "The measuring process requests nothing; one neighbour at a time holds the setting below.".to_owned(),
            ..Frame::default()
        },
        wait_label: format!("a sleep of {requested}"),
        settings: steps.iter().map(|held| held_in_words(held)).collect(),
        machines: indices(comparison)
            .map(machine)
            .filter(|machine| machine.steps.iter().any(Option::is_some))
            .collect(),
    };
    let Frame { heading, note, .. } = curves.frame.clone();
    curves.frame.note = format!("{note} {}", source_of("compare"));
    let question = oversleep_measure::experiment(id).map(|known| known.question).unwrap_or_default();
    Some(Picture {
        kind: "neighbour-curves",
        part: String::new(),
        name: "neighbour-curves".to_owned(),
        heading: heading.clone(),
        caption: format!("{id}: {question}"),
        forms: curves.forms(&heading, &note, Wanted::All),
    })
}
