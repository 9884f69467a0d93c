//! The verdict on an observed program, and in brief its causes, its waits and the worst of them.

use oversleep_explain::housekeeping;
use oversleep_explain::verdict::{Cause, Verdict, causes, lateness_in_words};
use oversleep_record::ResultFile;
use oversleep_record::finding::Severity;
use oversleep_record::part::Part;

use super::findings::name;
use super::page::Page;
use super::style::paint;
use super::{Detail, grid};
use crate::view::findings::in_words;
use crate::view::observed::{self, OTHERWISE, ended_otherwise, left_out, own_rows};
use crate::view::overview::first_clause;
use crate::view::sections;
use crate::view::table::{Section, Split, Tone, letter};
use crate::view::verdict::{self, worst_in_brief};
use crate::view::wakes;
use crate::words::{counted, percent, sentence};

/// Letters of the bar, where the page is wide enough.
const BAR: usize = 76;
/// Letters of the bar of a row, while the program is still followed.
const BAR_OF_A_ROW: usize = 24;
/// The lines that causes take in brief, so that a report fits two screens; the first one is always shown.
const CAUSES_LINES: usize = 17;
/// A cause has lines of its own in brief if it explains this share of the lateness, or if it is the first.
const SHARE_MIN: f64 = 0.01;
/// The most kinds of waits that are shown in brief above loops.
const ROWS_BESIDE_LOOPS: usize = 4;
/// The most groups of threads that are named of a cause.
const GROUPS_MAX: usize = 2;

/// The sentence, the bar, what to do first, and what that would leave.
pub(super) fn show(page: &mut Page, file: &ResultFile, verdict: &Verdict) {
    page.heading(file, "Verdict", "");
    sentences(page, verdict);
}

/// The verdict without its heading.
fn sentences(page: &mut Page, verdict: &Verdict) {
    page.prose(&verdict.sentence, 0, Tone::Strong);
    verdict.pace.iter().for_each(|pace| page.prose(pace, 0, Tone::Plain));
    if !verdict.shares.is_empty() {
        let width = BAR.min(page.width - 4);
        let is_fine = verdict.first_step.as_ref().is_none_or(|step| step.is_optional);
        page.line(&format!("  |{}|", painted(&verdict::bar(verdict), width, is_fine)));
    }
    verdict::legend(verdict).iter().for_each(|legend| page.prose(legend, 2, Tone::Soft));
    verdict.figures.iter().for_each(|figures| page.prose(&format!("{figures}."), 0, Tone::Plain));
    if let Some(step) = &verdict.first_step {
        page.prose(&verdict::first_step(step), 0, Tone::Plain);
        if let Some(command) = verdict::command(&step.advice) {
            page.code_line(command);
        }
    }
    verdict.leaves.iter().for_each(|leaves| page.prose(&leaves.to_string(), 0, Tone::Good));
    verdict.housekeeping.iter().for_each(|left_out| page.prose(left_out, 0, Tone::Soft));
}

/// The verdict while the program is still followed, and the waits for which there is room on a screen of that many lines.
pub(super) fn so_far(page: &mut Page, file: &ResultFile, height: usize) {
    let waits = own_rows(file).map(|row| row.lateness.count()).fold(0, u64::saturating_add);
    let heading = format!("Verdict so far: {} in {}", counted(waits, "wait"), file.duration_ns);
    page.title(&heading);
    Verdict::of(file).iter().for_each(|verdict| sentences(page, verdict));
    // A line for the heading of the table, and one for the cursor.
    let room = height.saturating_sub(page.lines() + 2);
    if let Some(table) = observed::table(own_rows(file).take(room), BAR_OF_A_ROW).filter(|_| room != 0) {
        // A row may wrap, and the screen must not scroll.
        grid::lines(&table, page.width).iter().take(room + 1).for_each(|line| page.line(line));
    }
}

/// The bar in letters: the longest part stands out, and its neighbours from one another.
fn painted(bar: &Split, width: usize, is_fine: bool) -> String {
    let mut letters = bar.letters(width);
    letters.extend(std::iter::repeat_n(verdict::REST, width.saturating_sub(letters.len())));
    let largest = bar.parts.iter().max_by_key(|(_, length)| *length).map(|&(part, _)| letter(part));
    let (mut out, mut others) = (String::new(), 0);
    let mut rest = letters.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|other| other != first).unwrap_or(rest.len());
        let tone = match () {
            () if Some(first) == largest => {
                if is_fine {
                    Tone::Good
                } else {
                    Tone::Warn
                }
            }
            () if others % 2 == 0 => Tone::Plain,
            () => Tone::Soft,
        };
        others += usize::from(Some(first) != largest);
        out.push_str(&paint(tone, &rest[..end]));
        rest = &rest[end..];
    }
    out
}

/// Everything that matters, on two screens.
pub(super) fn brief(page: &mut Page, file: &ResultFile, verdict: &Verdict) {
    show(page, file, verdict);
    let mut causes = causes(file);
    if let Some(step) = &verdict.first_step {
        // What is said to come first does.
        let is_first = |cause: &Cause| (&cause.finding.id, &cause.finding.instance) == (&step.finding, &step.instance);
        causes.sort_by_key(|cause| !is_first(cause));
    }
    let (costs, notes): (Vec<&Cause>, Vec<&Cause>) =
        causes.iter().partition(|cause| cause.finding.severity != Severity::Note);
    if !causes.is_empty() {
        page.heading(file, "Causes", "");
        let more = cards(page, file, &costs);
        more_causes(page, file, more);
        for note in notes {
            let who = note.finding.instance.as_ref().zip(verdict::share(file, note));
            let said = who.map(|(who, share)| format!("{who}, {share}"));
            super::findings::line(page, &note.finding, &said.unwrap_or_else(|| note.finding.whole_sentence()));
        }
    }
    for section in sections::all(file) {
        match section.id.as_str() {
            "observed" => waits(page, file, section, verdict),
            _ => page.section(file, &section, Detail::Brief),
        }
    }
    let mut worst = file.observation.iter().flat_map(|observation| &observation.worst);
    if let Some(wait) = worst.find(|wait| housekeeping::of_wait(file, wait).is_none()) {
        page.heading(file, "The wait with the most lateness", "");
        let (what, parts) = worst_in_brief(wait);
        page.prose(&what, 0, Tone::Strong);
        page.prose(&parts, 2, Tone::Plain);
    }
    page.gap();
    let example = causes.first().map(|cause| format!("`oversleep explain {}` on a cause; ", cause.finding.id));
    let example = example.unwrap_or_default();
    page.prose(&format!("More: {example}--full for all evidence, remedies and worst waits."), 0, Tone::Soft);
}

/// As many causes as there is room for, none that explains next to nothing. Returns the others.
fn cards<'a, 'c>(page: &mut Page, file: &ResultFile, causes: &'a [&'c Cause]) -> &'a [&'c Cause] {
    let mut lines = 0;
    for (at, cause) in causes.iter().enumerate() {
        let mut one = Page::new(page.width);
        card(&mut one, file, cause);
        let one = one.finish();
        lines += one.lines().count();
        let is_small = cause.share.is_some_and(|share| share < SHARE_MIN);
        if at > 0 && (is_small || lines > CAUSES_LINES) {
            return &causes[at..];
        }
        one.lines().for_each(|line| page.line(line));
    }
    &[]
}

/// One cause in a few lines.
fn card(page: &mut Page, file: &ResultFile, cause: &Cause) {
    let finding = &cause.finding;
    name(page, finding);
    let share = verdict::share(file, cause).map(|share| format!("{share}. ")).unwrap_or_default();
    page.prose(&format!("{share}{}", in_words(finding)), 2, Tone::Plain);
    // The sentence names the waits that it delayed most.
    if cause.delayed.len() > 1 {
        let groups = verdict::delays(file, cause);
        let shown = groups.len().min(GROUPS_MAX);
        let more = match groups.len() - shown {
            0 => String::new(),
            more => format!("; {}", counted(more, "more group")),
        };
        page.prose(&format!("Delays {}{more}.", groups[..shown].join("; ")), 2, Tone::Soft);
    }
    if let Some(advice) = finding.advice.first() {
        page.prose(&format!("→ {}", sentence(first_clause(&advice.sentence))), 2, Tone::Plain);
    }
}

fn more_causes(page: &mut Page, file: &ResultFile, more: &[&Cause]) {
    if more.is_empty() {
        return;
    }
    let share: f64 = more.iter().filter_map(|cause| cause.share).sum();
    let share = if share > 0.0 {
        format!(", {} of {}", percent(share.min(1.0)), lateness_in_words(file))
    } else {
        String::new()
    };
    page.prose(&format!("{}{share}; --full shows all.", counted(more.len(), "more cause")), 0, Tone::Soft);
}

/// The waits with the most lateness, with the letters that the verdict doesn't explain.
fn waits(page: &mut Page, file: &ResultFile, mut section: Section, verdict: &Verdict) {
    let known = verdict::explained(verdict);
    // Waits that ended otherwise are counted in a sentence.
    section.tables.retain(|table| ![OTHERWISE, wakes::IDLE, wakes::RHYTHMS].contains(&&*table.caption));
    // Many kinds of waits leave room for what paces the program.
    if let [waits, _, ..] = &mut *section.tables {
        waits.rows_brief = waits.rows_brief.min(ROWS_BESIDE_LOOPS);
    }
    let bars: String = section
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().take(table.rows_brief).flatten())
        .filter(|cell| cell.split.is_some())
        .map(|cell| cell.text.as_str())
        .collect();
    let unknown = |part: &&Part| !known.contains(part) && bars.contains(letter(**part));
    let unknown = Part::ALL.iter().filter(unknown);
    let words: Vec<String> =
        unknown.map(|&part| format!("{} {} ({})", letter(part), part.name(), part.about())).collect();
    section.legend = (!words.is_empty()).then(|| format!("Also in the bars: {}.", words.join(", ")));
    let observation = file.observation.as_ref();
    let few = section.notes.pop_if(|note| note.starts_with('~'));
    let none = section.notes.first().filter(|_| section.tables.is_empty()).cloned();
    let limit = observation.and_then(|observation| verdict::limit(observation.by)).map(str::to_owned);
    let otherwise = ended_otherwise(file).map(|said| format!("{} (--full shows which).", said.trim_end_matches('.')));
    let notes = [none, wakes::in_brief(file), otherwise, observation.and_then(left_out), limit, few];
    section.notes = notes.into_iter().flatten().collect();
    // The columns say what the table shows.
    section.tables.iter_mut().for_each(|table| table.caption.clear());
    page.section(file, &section, Detail::Brief);
}
