//! From a result to the input of its pictures. A picture without data is not drawn at all.

use oversleep_explain::verdicts::{Validity, clock_table};
use oversleep_record::conditions::Setting;
use oversleep_record::label::ClockRole;
use oversleep_record::{Distribution, ExperimentId, FactName, Nanos, ResultFile, Series, label};

use super::head;
use super::sections::{slack, split};
use super::select::{common_request, measured, requests, subjects};
use crate::picture;
use crate::picture::Frame;

/// A picture: a name fit for a file and for an `id`, and the SVG.
pub type Picture = (String, String);

/// Every picture the result has data for, in the order to show them.
pub fn all(file: &ResultFile) -> Vec<Picture> {
    let mut pictures = Vec::new();
    pictures.extend(two_clocks(file));
    pictures.extend(sweep(file));
    pictures.extend(percentiles(file));
    pictures.extend(lateness_split(file));
    pictures.extend(waits_by_request(file));
    pictures.extend(slack_sweep(file));
    pictures.extend(neighbours::neighbours(file));
    pictures.extend(before_after(file));
    pictures.extend(clock_cost(file));
    pictures.extend(fork_join(file));
    pictures
}

/// A name of lower-case letters, digits and `-` only, whatever the result calls things.
fn safe_name(parts: &[&str]) -> String {
    let mut name = String::new();
    for letter in parts.join("-").to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' => name.push(letter),
            '.' => name.push('_'),
            _ if !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() >= 60 {
            break;
        }
    }
    name.trim_matches('-').to_owned()
}

fn frame(file: &ResultFile, name: &str, heading: &str, note: &str) -> Frame {
    let mut machine = head::machine(file).join(", ");
    if let Some(profile) = head::modelled(file) {
        machine = format!("Modelled: {profile}, in virtual time");
    }
    let note = if note.is_empty() { format!("{machine}.") } else { format!("{note} {machine}.") };
    Frame { id: name.to_owned(), heading: head::heading(file, heading), note }
}

fn us(ns: i64) -> f64 {
    Nanos(ns).as_micros_f64()
}

fn ms(ns: i64) -> f64 {
    Nanos(ns).as_millis_f64()
}

/// B1: samples of both clocks that belong to the same sleep.
fn two_clocks(file: &ResultFile) -> Option<Picture> {
    let role =
        |role| measured(file, ExperimentId::B1).filter(move |series| series.label(label::CLOCK_ROLE) == Some(role));
    let asked = common_request(role(ClockRole::Precise))?;
    let precise = role(ClockRole::Precise).find(|series| series.requested_ns == Some(asked))?;
    let coarse = role(ClockRole::Coarse).find(|series| {
        series.requested_ns == Some(asked)
            && series.subject == precise.subject
            && series.samples.len() == precise.samples.len()
    })?;
    let pairs = coarse.samples.value.iter().zip(&precise.samples.value);
    let sleeps = pairs
        .map(|(&coarse, &precise)| picture::SleepSeenTwice { coarse_us: us(coarse), precise_us: us(precise) })
        .collect();
    let name = safe_name(&["two-clocks"]);
    let svg = picture::TwoClocks {
        frame: frame(file, &name, "One sleep, two clocks", ""),
        wait_label: precise.subject.clone(),
        asked_us: asked.as_micros_f64(),
        coarse_label: coarse.clock.clone(),
        precise_label: precise.clock.clone(),
        sleeps,
    }
    .svg();
    Some((name, svg))
}

fn sweep(file: &ResultFile) -> Vec<Picture> {
    let one = |wait: &str| {
        let series = measured(file, ExperimentId::B2).filter(|series| series.subject == wait);
        let points: Vec<picture::SweepPoint> = series
            .filter_map(|series| Some((series.requested_ns?, series)))
            .flat_map(|(asked, series)| {
                let asked_ms = asked.as_millis_f64();
                series.samples.value.iter().map(move |&got| picture::SweepPoint { asked_ms, got_ms: ms(got) })
            })
            .collect();
        let name = safe_name(&["sweep", wait]);
        let frame = frame(file, &name, "What a sleep takes for each request: line or tube?", "");
        (!points.is_empty()).then(|| (name, picture::Sweep { frame, wait_label: wait.to_owned(), points }.svg()))
    };
    subjects(measured(file, ExperimentId::B2)).into_iter().filter_map(one).collect()
}

/// The share that has at least ten values beyond it, and the nines down to it.
const BEYOND_MIN: f64 = 10.0;
/// Points a curve is sampled at.
const POINTS: usize = 96;

/// A distribution as far as its values carry: p99.9 of ten thousand, p90 of a hundred.
fn carried(distribution: &Distribution) -> Option<picture::Distribution> {
    let count = distribution.count();
    let highest = 1.0 - BEYOND_MIN / count.max(1) as f64;
    if highest < 0.5 {
        return None;
    }
    let nines = -(1.0 - highest).log10();
    let mut shares: Vec<f64> =
        (0..POINTS).map(|index| 1.0 - 10f64.powf(-nines * index as f64 / (POINTS - 1) as f64)).collect();
    shares.extend([0.5, 0.9, 0.99, 0.999, 0.9999].into_iter().filter(|&share| share <= highest + 1e-12));
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let points =
        shares.into_iter().filter_map(|share| Some((share.max(0.0), us(distribution.quantile(share)?)))).collect();
    Some(picture::Distribution { count, early_count: distribution.early_count(), points })
}

fn percentiles(file: &ResultFile) -> Option<Picture> {
    let asked = common_request(measured(file, ExperimentId::B5))?;
    let waits: Vec<&Series> =
        measured(file, ExperimentId::B5).filter(|series| series.requested_ns == Some(asked)).collect();
    // Colours by what the figures themselves show: which waits end within the slack, and which do not.
    let slack = file.environment.nanos(FactName::TimerSlack).filter(|&slack| slack >= Nanos(5_000) && waits.len() > 8);
    let families = slack.map_or_else(Vec::new, |slack| {
        vec![format!("median later than the timer slack of {slack}"), "median within the timer slack".to_owned()]
    });
    let family = |series: &Series, index: usize| match slack {
        Some(slack) => usize::from(series.distribution.p50().is_some_and(|p50| p50 < slack.0)),
        None => index,
    };
    let series: Vec<picture::PercentileSeries> = waits
        .iter()
        .enumerate()
        .filter_map(|(index, series)| {
            let lateness = carried(&series.distribution)?;
            Some(picture::PercentileSeries { label: series.subject.clone(), family: family(series, index), lateness })
        })
        .collect();
    if series.is_empty() {
        return None;
    }
    let name = safe_name(&["percentiles"]);
    let heading = format!("How late waits of {asked} end, and how rarely that late");
    let note = "A curve ends where fewer than ten waits lie beyond.";
    let frame = frame(file, &name, &heading, note);
    Some((name, picture::Percentiles { frame, families, series }.svg()))
}

fn lateness_split(file: &ResultFile) -> Option<Picture> {
    let rows = split::of_waits(file);
    if rows.is_empty() {
        return None;
    }
    let request = split::request(&rows);
    let part = |label: &str| picture::SplitPart { label: label.to_owned(), attributed: true };
    let bar = |row: &oversleep_explain::split::SplitRow| picture::SplitRow {
        label: match row.requested_ns {
            Some(asked) if Some(asked) != request => format!("{} {asked}", row.wait),
            _ => row.wait.clone(),
        },
        parts_us: [row.medians.timer, row.medians.run_queue, row.medians.wake_return]
            .iter()
            .map(|part| Some(part.as_micros_f64()))
            .collect(),
        total_us: row.medians.total.as_micros_f64(),
    };
    let name = safe_name(&["split"]);
    let heading = match request {
        Some(asked) => format!("Where the lateness of waits of {asked} goes"),
        None => "Where the lateness goes".to_owned(),
    };
    let mut note = "Medians of each part; they add up to the median lateness only roughly.".to_owned();
    if let Some(spinning) = split::spinning(&rows) {
        note = format!("{note} {spinning}");
    }
    let picture = picture::SplitBars {
        frame: frame(file, &name, &heading, &note),
        parts: vec![part("timer, slack and waking"), part("run queue"), part("return to the program")],
        rows: rows.iter().map(bar).collect(),
    };
    Some((name, picture.svg()))
}

fn waits_by_request(file: &ResultFile) -> Option<Picture> {
    let asked = requests(measured(file, ExperimentId::B5));
    let common = common_request(measured(file, ExperimentId::B5))?;
    let mut waits = subjects(measured(file, ExperimentId::B5));
    if asked.len() < 2 || waits.len() < 2 {
        return None;
    }
    let late = |wait: &str, asked: Nanos| {
        let mut all = measured(file, ExperimentId::B5);
        all.find(|series| series.subject == wait && series.requested_ns == Some(asked))?.distribution.p50()
    };
    waits.sort_by_key(|wait| (late(wait, common).is_none(), late(wait, common)));
    let name = safe_name(&["waits-by-request"]);
    let picture = picture::HeatMap {
        frame: frame(file, &name, "Median lateness of every wait, by what was asked for", ""),
        columns: asked.iter().map(|asked| format!("{asked:#}")).collect(),
        rows: waits
            .iter()
            .map(|wait| ((*wait).to_owned(), asked.iter().map(|&asked| late(wait, asked).map(us)).collect()))
            .collect(),
    };
    Some((name, picture.svg()))
}

fn slack_sweep(file: &ResultFile) -> Option<Picture> {
    let tunable = slack::tunable(file, ExperimentId::C2)?;
    let settings = slack::settings(file, ExperimentId::C2);
    let rows: Vec<(String, Vec<Option<f64>>)> = subjects(measured(file, ExperimentId::C2))
        .into_iter()
        .map(|wait| {
            let late = |setting: &&Setting| slack::at(file, wait, setting)?.distribution.p50().map(us);
            (wait.to_owned(), settings.iter().map(late).collect())
        })
        .collect();
    if settings.len() < 2 || !rows.iter().any(|(_, values)| values.iter().any(Option::is_some)) {
        return None;
    }
    let name = safe_name(&["slack"]);
    let words = slack::in_words(tunable);
    let note = format!("Columns: the {words} held by the measuring thread. A row that does not change ignores it.");
    let exact = |setting: &&Setting| match setting {
        Setting::Nanos(span) => format!("{span:#}"),
        other => other.to_string(),
    };
    let picture = picture::HeatMap {
        frame: frame(file, &name, &format!("Median lateness by {words}"), &note),
        columns: settings.iter().map(exact).collect(),
        rows,
    };
    Some((name, picture.svg()))
}

fn before_after(file: &ResultFile) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    for trial in &file.trials {
        // Of the calls, as in the sentence beside it.
        let p99 = |series: &Series| series.calls().safe_quantile(0.99).map(us);
        let rows: Vec<picture::BeforeAfterRow> = trial
            .pairs
            .iter()
            .filter_map(|pair| {
                let (before, after) = (file.series(&pair.before)?, file.series(&pair.after)?);
                let held = after.conditions.all_held();
                held.then_some(picture::BeforeAfterRow {
                    label: after.subject.clone(),
                    before_p50_us: us(before.calls().p50()?),
                    before_p99_us: p99(before),
                    after_p50_us: us(after.calls().p50()?),
                    after_p99_us: p99(after),
                })
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        let mut name = safe_name(&["before-after", &trial.remedy]);
        if pictures.iter().any(|(other, _)| *other == name) {
            name = format!("{name}-{}", pictures.len() + 1);
        }
        let heading = format!("Before and after: {}", trial.remedy);
        let picture = picture::BeforeAfter {
            frame: frame(file, &name, &heading, "Rounds with and without it alternated."),
            remedy: super::words::sentence(&trial.conditions.to_string()),
            rows,
        };
        pictures.push((name, picture.svg()));
    }
    pictures
}

/// Steps below this are every fine clock's, and no remark.
const FINE_STEP: Nanos = Nanos(1_000);

fn clock_cost(file: &ResultFile) -> Option<Picture> {
    let table = clock_table(file);
    let clocks: Vec<picture::ClockCost> = table
        .rows
        .iter()
        .filter_map(|row| {
            let reasons = row.reasons.join("; ");
            let step = row.step_ns.filter(|&step| step > FINE_STEP).map(|step| format!("step {step}"));
            let is_valid = row.validity == Some(Validity::Valid);
            Some(picture::ClockCost {
                label: row.name.clone(),
                cost_ns: row.cost_ps? as f64 / 1e3,
                objection: (row.validity == Some(Validity::Invalid)).then(|| reasons.clone()),
                remark: if is_valid { step.unwrap_or_default() } else { format!("unproven: {reasons}") },
            })
        })
        .collect();
    if clocks.is_empty() {
        return None;
    }
    let unavailable = table
        .rows
        .iter()
        .filter_map(|row| {
            let reason = row.unavailable.as_ref()?.to_string();
            Some(picture::UnavailableClock { label: row.name.clone(), reason })
        })
        .collect();
    let name = safe_name(&["clock-cost"]);
    let frame = frame(file, &name, "What one read of each clock costs", "Medians of batches; nothing is subtracted.");
    Some((name, picture::CostBars { frame, clocks, unavailable }.svg()))
}

fn fork_join(file: &ResultFile) -> Option<Picture> {
    let samples = |style: &str, role| -> Vec<f64> {
        let mut of_role = measured(file, ExperimentId::D1)
            .filter(|series| series.subject == style && series.label(label::CLOCK_ROLE) == Some(role));
        of_role.next().map(|series| series.samples.value.iter().map(|&value| ms(value)).collect()).unwrap_or_default()
    };
    let clock = |role| {
        measured(file, ExperimentId::D1)
            .find(|series| series.label(label::CLOCK_ROLE) == Some(role))
            .map_or_else(|| "none".to_owned(), |series| series.clock.clone())
    };
    let styles: Vec<picture::ForkJoinStyle> = subjects(measured(file, ExperimentId::D1))
        .into_iter()
        .map(|style| picture::ForkJoinStyle {
            label: style.to_owned(),
            coarse_ms: samples(style, ClockRole::Coarse),
            precise_ms: samples(style, ClockRole::Precise),
        })
        .collect();
    if styles.iter().all(|style| style.precise_ms.is_empty()) {
        return None;
    }
    let first = measured(file, ExperimentId::D1).next();
    let work = first.and_then(|series| series.label(label::WORK));
    let threads = first.and_then(|series| i64::try_from(series.label(label::THREADS)?).ok());
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let workers = threads.zip(cpus).map(|(threads, cpus)| threads.min(cpus).max(1));
    let note = match (work, threads, workers) {
        (Some(work), Some(threads), Some(workers)) => {
            format!("{threads} threads share {work} of work; “the work alone” is that over {workers} CPUs.")
        }
        _ => String::new(),
    };
    let name = safe_name(&["fork-join"]);
    let picture = picture::ForkJoin {
        frame: frame(file, &name, "Fork–join, by the way the main thread waits", &note),
        coarse_label: clock(ClockRole::Coarse),
        precise_label: clock(ClockRole::Precise),
        work_ms: work.zip(workers).map(|(work, workers)| ms(work.0) / workers as f64),
        styles,
    };
    Some((name, picture.svg()))
}

mod neighbours;
#[cfg(test)]
mod tests;
