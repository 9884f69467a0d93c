//! What documents are about: results, comparisons, galleries, fleets, answers, lists.

use std::borrow::Cow;
use std::io::{self, Write};

use oversleep_explain::verdict::Verdict as OfProgram;
use oversleep_record::assertion::Assertions;
use oversleep_record::comparison::{Judgement, SeriesComparison, Side};
use oversleep_record::finding::{Severity, Verdict};
use oversleep_record::{ResultFile, Series, comparison};
use serde_json::Value;

use super::Layout;
use crate::ask::{self, Reply};
use crate::html;
use crate::listing::Listing;
use crate::terminal::{self, Detail, without_styles};
use crate::view::comparison::{Sketch, View, letter};
use crate::view::findings::{Findings, cure, in_words};
use crate::view::gallery::{self, Machine};
use crate::view::pictures::{self, Picture, Wanted};
use crate::view::sheet::{Column, Sheet, optional, word};
use crate::view::table::{Columns, Section};
use crate::view::{head, intervals, overview, sections, verdict as of_program, wakes as view_of_wakes};

/// Something that documents are about.
pub trait Subject {
    /// For a person at a terminal, with ANSI styles.
    fn text(&self, layout: &Layout) -> String;

    /// All data.
    ///
    /// # Errors
    /// Those of `out`.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Its series, if it is a result.
    fn series(&self) -> Option<&[Series]> {
        None
    }

    /// The verdicts, if it is assertions.
    fn assertions(&self) -> Option<&Assertions> {
        None
    }

    /// One row for each thing that it consists of.
    fn sheet(&self) -> Sheet<'_>;

    /// For a person on a page: headings, tables, sentences.
    fn view(&self, detail: Detail) -> View;

    /// The page.
    ///
    /// # Errors
    /// Those of `out`.
    fn page(&self, out: &mut dyn Write) -> io::Result<()> {
        html::page_of(&self.view(Detail::Full), out)
    }

    /// Means and 99 % intervals, if it has series.
    fn intervals(&self) -> Option<Section> {
        None
    }

    /// Its pictures, each a document of its own.
    fn pictures(&self) -> Vec<Picture> {
        Vec::new()
    }
}

/// The columns of series. p90 and p99 are left out where fewer than ten values lie beyond
/// them.
fn series_columns<'a>() -> [Column<&'a Series>; 16] {
    [
        ("key", |series| series.key.to_string()),
        ("experiment", |series| series.experiment.to_string()),
        ("subject", |series| series.subject.clone()),
        ("quantity", |series| word(&series.quantity)),
        ("unit", |series| word(&series.unit)),
        ("requested_ns", |series| optional(series.requested_ns.map(|span| span.0))),
        ("rounded_ns", |series| optional(series.rounded_ns.map(|span| span.0))),
        ("conditions", |series| series.conditions.to_string()),
        ("count", |series| series.distribution.count().to_string()),
        ("min", |series| optional(series.distribution.min())),
        ("p50", |series| optional(series.distribution.quantile(0.5))),
        ("p90", |series| optional(series.distribution.safe_quantile(0.9))),
        ("p99", |series| optional(series.distribution.safe_quantile(0.99))),
        ("max", |series| optional(series.distribution.max())),
        ("mean", |series| optional(series.distribution.mean())),
        ("beyond", |series| optional(series.beyond.map(|beyond| beyond.count))),
    ]
}

/// What a recording has beside its series, in the same columns: wake-ups of idle CPUs (a rate in `mean`), threads with a
/// rhythm (`p50`, and `p90`), timer resolutions (when in `min`, what in `conditions`).
fn of_recording(file: &ResultFile, heads: Vec<Cow<'_, str>>) -> impl Iterator<Item = Vec<String>> {
    let row = move |fields: &[(&str, String)]| {
        let of = |head: &Cow<'_, str>| fields.iter().find(|(name, _)| name == head);
        heads.iter().map(|head| of(head).map_or_else(String::new, |(_, field)| field.clone())).collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let observation = file.observation.iter();
    for wakes in observation.clone().filter_map(|observation| observation.wakes.as_ref()) {
        rows.extend(wakes.idle.iter().map(|idle| {
            let (program, by) = (view_of_wakes::program(idle), view_of_wakes::by(idle));
            row(&[
                ("key", format!("idle-wake-ups/{program}/{by}")),
                ("subject", program),
                ("quantity", "idle-wake-ups".to_owned()),
                ("unit", "1/s".to_owned()),
                ("conditions", by),
                ("count", idle.count.to_string()),
                ("mean", optional(wakes.per_second(idle.count).map(view_of_wakes::rate))),
            ])
        }));
        rows.extend(wakes.rhythms.iter().map(|rhythm| {
            row(&[
                ("key", format!("rhythm/{}/{}", rhythm.program, rhythm.tid)),
                ("subject", rhythm.thread.clone()),
                ("quantity", "interval".to_owned()),
                ("unit", "ns".to_owned()),
                ("count", rhythm.count.to_string()),
                ("p50", rhythm.p50_ns.0.to_string()),
                ("p90", rhythm.p90_ns.0.to_string()),
            ])
        }));
    }
    let changes = file.changes.iter().filter(|_| observation.clone().next().is_some());
    rows.extend(changes.map(|change| {
        let before = change.before.iter().map(|before| format!("{before} → ")).collect::<String>();
        row(&[
            ("key", format!("change/{}/{}", change.what, change.at_ns.0)),
            ("subject", change.what.clone()),
            ("quantity", "change".to_owned()),
            ("unit", "ns".to_owned()),
            ("conditions", format!("{before}{}", change.after)),
            ("count", "1".to_owned()),
            ("min", change.at_ns.0.to_string()),
        ])
    }));
    rows.into_iter()
}

impl Subject for ResultFile {
    fn text(&self, layout: &Layout) -> String {
        terminal::report(self, layout.width, layout.detail)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_to(out)
    }

    fn series(&self) -> Option<&[Series]> {
        Some(&self.series)
    }

    fn sheet(&self) -> Sheet<'_> {
        let mut sheet = Sheet::of(series_columns(), &self.series);
        let series = std::mem::replace(&mut sheet.rows, Box::new(std::iter::empty()));
        sheet.rows = Box::new(series.chain(of_recording(self, sheet.heads.clone())));
        sheet
    }

    fn view(&self, detail: Detail) -> View {
        let found = Findings::of(self);
        let is_shown = |severity: &Severity| *severity != Severity::Note || detail == Detail::Full;
        let severities = crate::view::findings::SEVERITIES.into_iter().filter(is_shown);
        let sentences = severities.flat_map(|severity| found.found(severity)).map(|finding| {
            let advice = cure(finding).map(|advice| format!(" To do: {}.", advice.sentence.trim_end_matches('.')));
            format!("{} {}: {}{}", finding.id, finding.name, in_words(finding), advice.unwrap_or_default())
        });
        let verdict = OfProgram::of(self).iter().flat_map(of_program::sentences).collect::<Vec<_>>();
        let has_verdicts =
            found.with(Verdict::Found).next().is_some() || found.with(Verdict::NotFound).next().is_some();
        let facts = [head::machine(self).join(" · "), head::run(self).join(" · ")];
        View {
            title: head::heading(self, &head::title(self)),
            results: facts.into_iter().chain(head::reliability(self)).map(|fact| (String::new(), fact)).collect(),
            warnings: head::warnings(self),
            summary: verdict.into_iter().chain(sentences).chain(has_verdicts.then(|| found.summary())).collect(),
            sections: match detail {
                Detail::Brief => overview::brief(self),
                Detail::Full => sections::all(self),
            },
            ..View::default()
        }
    }

    fn page(&self, out: &mut dyn Write) -> io::Result<()> {
        html::report(self, out)
    }

    fn intervals(&self) -> Option<Section> {
        intervals::of_result(self)
    }

    fn pictures(&self) -> Vec<Picture> {
        pictures::wanted(self, Wanted::Alone)
    }
}

/// Results compared, with what is shown of each.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The figures.
    pub compared: &'a comparison::Comparison,
    /// What else the page shows of each result.
    pub sketches: &'a [Sketch],
    /// The names of the results.
    pub names: &'a [String],
    /// What of it is shown.
    pub shown: fn(&comparison::Comparison, &[Sketch], &[String], bool) -> View,
}

/// One result's side of a series.
type OneSide<'a> = (&'a SeriesComparison, &'a Side, &'a [String]);

/// The columns of compared series: a row for each result that has it.
fn side_columns<'a>() -> [Column<OneSide<'a>>; 18] {
    [
        ("key", |(series, ..)| series.key.to_string()),
        ("experiment", |(series, ..)| series.experiment.to_string()),
        ("subject", |(series, side, _)| side.subject.as_ref().unwrap_or(&series.subject).clone()),
        ("quantity", |(series, ..)| word(&series.quantity)),
        ("unit", |(series, ..)| word(&series.unit)),
        ("requested_ns", |(series, side, _)| optional(side.requested_ns.or(series.requested_ns).map(|span| span.0))),
        ("conditions", |(series, ..)| series.conditions.to_string()),
        ("letter", |(_, side, _)| letter(side.result)),
        ("result", |(_, side, names)| {
            usize::try_from(side.result).ok().and_then(|at| names.get(at)).cloned().unwrap_or_default()
        }),
        ("count", |(_, side, _)| side.count.to_string()),
        ("mean", |(_, side, _)| optional(side.mean)),
        ("p50", |(_, side, _)| optional(side.p50.map(|p50| p50.value))),
        ("p50_low", |(_, side, _)| optional(side.p50.and_then(|p50| p50.interval).map(|interval| interval.low))),
        ("p50_high", |(_, side, _)| optional(side.p50.and_then(|p50| p50.interval).map(|interval| interval.high))),
        ("p99", |(_, side, _)| optional(side.p99.map(|p99| p99.value))),
        ("max", |(_, side, _)| optional(side.max)),
        ("p50_verdict", |(_, side, _)| {
            side.against_base.as_ref().map_or("", |against| verdict(&against.p50)).to_owned()
        }),
        ("unavailable", |(_, side, _)| optional(side.unavailable.as_ref())),
    ]
}

/// A verdict in the word of the JSON document.
fn verdict(judgement: &Judgement) -> &'static str {
    match judgement.verdict {
        comparison::Verdict::Differs => "differs",
        comparison::Verdict::Overlap => "overlap",
        comparison::Verdict::TooFew { .. } => "too_few",
        comparison::Verdict::TooDisturbed { .. } => "too_disturbed",
        comparison::Verdict::NotComparable { .. } => "not_comparable",
    }
}

impl Subject for Comparison<'_> {
    fn text(&self, layout: &Layout) -> String {
        terminal::comparison(&self.view(layout.detail), layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self.compared)?;
        out.write_all(b"\n")
    }

    fn sheet(&self) -> Sheet<'_> {
        let sides = self.compared.series.iter().flat_map(|series| series.sides.iter().map(move |side| (series, side)));
        Sheet::of(side_columns(), sides.map(|(series, side)| (series, side, self.names)))
    }

    fn view(&self, detail: Detail) -> View {
        (self.shown)(self.compared, self.sketches, self.names, detail == Detail::Full)
    }

    fn intervals(&self) -> Option<Section> {
        intervals::of_comparison(self.compared)
    }

    fn pictures(&self) -> Vec<Picture> {
        self.view(Detail::Full).pictures.into_iter().flatten().collect()
    }
}

/// Results of many machines in one table.
pub struct Gallery<'a>(pub &'a [Machine]);

impl Subject for Gallery<'_> {
    fn text(&self, layout: &Layout) -> String {
        terminal::comparison(&self.view(layout.detail), layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        pretty(&gallery::document(self.0), out)
    }

    fn sheet(&self) -> Sheet<'_> {
        gallery::sheet(self.0)
    }

    fn view(&self, detail: Detail) -> View {
        gallery::view(self.0, detail == Detail::Full)
    }
}

/// Answers of machines to questions.
pub struct Answers<'a>(pub &'a [Reply]);

impl Subject for Answers<'_> {
    fn text(&self, layout: &Layout) -> String {
        ask::text(self.0, layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        pretty(&ask::document(self.0), out)
    }

    fn sheet(&self) -> Sheet<'_> {
        Sheet::of(ask::columns(), self.0)
    }

    fn view(&self, _: Detail) -> View {
        ask::view(self.0)
    }

    fn pictures(&self) -> Vec<Picture> {
        ask::pictures(self.0)
    }
}

impl Subject for Listing<'_> {
    fn text(&self, layout: &Layout) -> String {
        (self.text)(layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        pretty(&self.data, out)
    }

    fn sheet(&self) -> Sheet<'_> {
        Sheet::of_objects(self.columns, self.objects())
    }

    fn view(&self, _: Detail) -> View {
        let title = format!("oversleep: {}", self.title);
        if !self.data.is_array() {
            return View { title, text: without_styles(&(self.text)(PAGE_COLUMNS)), ..View::default() };
        }
        let Sheet { heads, rows } = self.sheet();
        let columns = heads.into_iter().enumerate().fold(Columns::new(), |columns, (at, head)| {
            columns.words(head.replace('_', " "), move |row: &Vec<String>| row[at].clone())
        });
        View {
            title,
            sections: vec![Section::new("list", "All").tables(columns.table("All", rows))],
            ..View::default()
        }
    }
}

/// The columns of text on a page.
const PAGE_COLUMNS: usize = 100;

/// A small document, to be read by people, too.
pub(super) fn pretty(document: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{document:#}")
}
