//! What the laboratory does with a result or the description of a machine, with invariants for any input. The ordinary
//! tests beside this file and the fuzz targets share it.
#![allow(dead_code, reason = "each fuzz target uses its part")]

use std::sync::OnceLock;

use oversleep_explain as explain;
use oversleep_explain::compare;
use oversleep_lab::ask::{self, Question, ask};
use oversleep_lab::catalogue::Kind;
use oversleep_lab::machines::{self, Figure};
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Depth, Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::comparison::Verdict;
use oversleep_record::conditions::Setting;
use oversleep_record::testing::{altered, damaged_text, made};
use oversleep_record::{CommandName, Conditions, ExperimentId, Nanos, ResultFile};

/// A result of a model of each system, with few values of many kinds.
pub fn good() -> &'static [ResultFile] {
    static GOOD: OnceLock<Vec<ResultFile>> = OnceLock::new();
    GOOD.get_or_init(|| ["linux-hz250", "windows-11", "macos-14-m1"].map(taken_on).into())
}

fn taken_on(machine: &str) -> ResultFile {
    let plan = Plan { requests: vec![Nanos::from_millis(1)], limit: Some(Limit::Count(24)), ..Plan::default() };
    let lab = machines::load(machine, &[], machines::SEED).expect("it is one of the profiles");
    // Load, sweeps and many threads take the most time and produce no other kinds of series.
    let is_quick = |id: ExperimentId| {
        !(id.as_str().starts_with('D') || [ExperimentId::B2, ExperimentId::B9, ExperimentId::C6].contains(&id))
    };
    let experiments = lab.experiments_of_check(Depth::Quick).into_iter().filter(|one| is_quick(one.id)).collect();
    let request = Request { command: CommandName::Check, experiments, plan, name: None, try_remedies: true };
    lab.run(&request, &StopFlag::new(), &mut Silent).expect("the reference clock is always there")
}

/// A small result made and altered by bytes, and one made by fewer of them; `None` if the reader refuses it.
pub fn small_pair(bytes: &[u8]) -> Option<(ResultFile, ResultFile)> {
    let (making, changes) = bytes.split_at(bytes.len() / 2);
    let good = made(making);
    let choice = bytes.first().copied().unwrap_or(0);
    let base = if choice & 4 == 0 { good.clone() } else { made(&making[..making.len() / 2]) };
    // A text takes ten times as long, and the reader accepts few of them.
    let file = match choice >> 4 {
        15 => ResultFile::read(&damaged_text(good.write(), &changes[..changes.len().min(10)])).ok()?,
        _ => altered(good, changes)?,
    };
    Some((file, base))
}

/// Whether the text itself occurs in a result, in a name or a reason.
fn holds(file: &ResultFile, text: &str) -> bool {
    String::from_utf8_lossy(&file.write()).contains(text)
}

/// All findings of a result.
pub fn explained(file: &ResultFile) {
    for finding in explain::findings(file) {
        assert!(!finding.sentence.trim().is_empty(), "{} says nothing", finding.id);
        let advice = finding.advice.iter().map(|advice| &advice.sentence);
        for sentence in advice.chain([&finding.sentence]) {
            let is_no_number = ["NaN", "inf "].into_iter().any(|text| sentence.contains(text) && !holds(file, text));
            assert!(!is_no_number, "{}: {sentence}", finding.id);
        }
    }
    let _ = (explain::verdicts::clock_table(file), explain::split::rows(file), explain::remedies_to_try(file));
}

/// A result doesn't differ from a copy of itself.
pub fn compared_with_itself(file: &ResultFile) {
    let alike = compare::compare(&[file.clone(), file.clone()], |_| Vec::new());
    for (series, judged) in alike.verdicts(1) {
        assert!(!matches!(judged.verdict, Verdict::Differs), "{} differs from itself", series.key);
    }
}

/// A comparison drops nothing, and it can be written.
pub fn compared(file: &ResultFile, base: &ResultFile) {
    let no_words = |_: &ResultFile| Vec::new();
    let compared = compare::compare(&[base.clone(), file.clone()], no_words);
    assert!(compared.series.len() >= file.series.len().max(base.series.len()), "nothing is dropped");
    let written = serde_json::to_value(&compared).expect("plain data is written");
    serde_json::from_value::<oversleep_record::comparison::Comparison>(written).expect("what was written is read");
}

/// The machine of a result is modelled or refused with a reason; a modelled machine ends its waits.
pub fn modelled(file: &ResultFile) {
    let mut file = file.clone();
    file.platform.modelled = None;
    file.environment.facts.retain(|name, _| !name.starts_with("model."));
    match machines::like(&file, &[], machines::SEED) {
        Ok(lab) => run_some(&lab, Conditions::as_found()),
        Err(error) => assert!(error.to_string().len() > 10, "{error}"),
    }
}

fn run_some(lab: &Laboratory, conditions: Conditions) {
    run(lab, conditions, &[ExperimentId::A1, ExperimentId::B3, ExperimentId::B5], Vec::new());
}

/// Runs one wait, so that it takes little time.
fn run_one(lab: &Laboratory, conditions: Conditions, choice: u8) {
    let waits = lab.names(Kind::Wait);
    let Some(wait) = waits.get(usize::from(choice) % waits.len().max(1)) else { return };
    run(lab, conditions, &[ExperimentId::B5], vec![(*wait).to_owned()]);
}

fn run(lab: &Laboratory, conditions: Conditions, ids: &[ExperimentId], subjects: Vec<String>) {
    let experiments = ids.iter().map(|&id| experiment(id).expect("a known id")).collect();
    let limit = Some(Limit::Count(3));
    let plan = Plan {
        depth: Depth::Quick,
        requests: vec![Nanos::from_millis(1)],
        limit,
        conditions,
        subjects,
        ..Plan::default()
    };
    let request = Request { command: CommandName::Waits, experiments, plan, name: None, try_remedies: false };
    let file = lab.run(&request, &StopFlag::new(), &mut Silent).expect("the reference clock is always there");
    let read = ResultFile::read(&file.write()).expect("a result is read");
    assert!(read.series.len() == file.series.len() && read.findings.iter().all(|finding| !finding.sentence.is_empty()));
}

/// What a user types about a modelled machine.
#[derive(Debug)]
pub struct Typed<'a> {
    /// Which machine, by its place in the list.
    pub machine: usize,
    /// For `--set`.
    pub changes: Vec<String>,
    /// For `ask`.
    pub question: &'a str,
    /// For `--tune`: the place in the machine's list, and the setting.
    pub tuned: Vec<(usize, Setting)>,
    /// For `--load`: the place in the machine's list, and how many.
    pub load: Option<(usize, u32)>,
    /// For `--neighbour`.
    pub neighbour: Option<Setting>,
}

/// Checks that a machine with these changes is created or refused with a reason; returns it if it is created.
pub fn is_there(typed: &Typed<'_>) -> Option<Laboratory> {
    let names = machines::names();
    match machines::load(names[typed.machine % names.len()], &typed.changes, machines::SEED) {
        Ok(lab) => Some(lab),
        Err(error) => {
            assert!(error.to_string().len() > 10, "{error}");
            None
        }
    }
}

/// A machine with these changes answers or says why not; its description and its measurements can be read.
pub fn ask_each(typed: &Typed<'_>) {
    if let Some(lab) = is_there(typed) {
        described(typed);
        let conditions = conditions_of(&lab, typed);
        answered(&lab, typed, &conditions);
        run_some(&lab, conditions);
    }
}

/// Makes one of these checks, chosen by number, because a run takes a hundred times as long as a question. Returns whether
/// the machine exists.
pub fn ask_one(typed: &Typed<'_>, number: u32) -> bool {
    let Some(lab) = is_there(typed) else { return false };
    match number % 256 {
        0..64 => described(typed),
        255 => run_one(&lab, conditions_of(&lab, typed), (number >> 8) as u8),
        _ => answered(&lab, typed, &conditions_of(&lab, typed)),
    }
    true
}

fn described(typed: &Typed<'_>) {
    let names = machines::names();
    let name = names[typed.machine % names.len()];
    let described = machines::describe(name, &typed.changes).expect("what was loaded is described");
    assert!(described.figures.iter().all(|figure| !figure.path.is_empty()));
}

/// The longest span that is set beside load.
const LOADED_MAX: Nanos = Nanos::from_secs(10);

/// Those of the typed conditions that the machine supports.
fn conditions_of(lab: &Laboratory, typed: &Typed<'_>) -> Conditions {
    let mut conditions = Conditions::as_found();
    let tunables = lab.names(Kind::Tunable);
    for (place, setting) in &typed.tuned {
        let Some(name) = tunables.get(place % tunables.len().max(1)) else { continue };
        match lab.validate(name, setting) {
            Ok(()) => conditions = conditions.with(name, setting.clone()),
            Err(why) => assert!(why.to_string().len() > 10, "{why}"),
        }
    }
    let loads = lab.names(Kind::Load);
    // Beside load, waits of minutes cause hundreds of millions of events.
    let has_long = conditions.requested.values().any(|set| matches!(set, Setting::Nanos(span) if *span > LOADED_MAX));
    if let Some((place, hogs)) = typed.load.filter(|_| !loads.is_empty() && !has_long) {
        conditions = conditions.with_load(loads[place % loads.len()], hogs);
    }
    conditions
}

fn answered(lab: &Laboratory, typed: &Typed<'_>, conditions: &Conditions) {
    let Ok(subject) = typed.question.parse() else { return };
    let neighbours = typed.neighbour.iter().cloned().collect();
    let question = Question { conditions: conditions.clone(), neighbours, count: 5, ..Question::of(subject) };
    match ask(lab, &question) {
        Ok(answer) => {
            assert!(answer.min_ns() <= answer.quantile_ns(0.5) && answer.quantile_ns(0.99) <= answer.max_ns());
            assert!(answer.mean_ns().is_finite() && answer.rule().is_none_or(|rule| !rule.is_empty()));
        }
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

/// The figures of a machine as its profile states them.
fn figures(machine: usize) -> &'static [Figure] {
    static ALL: OnceLock<Vec<Vec<Figure>>> = OnceLock::new();
    let stated = |name| machines::describe(name, &[]).expect("a profile is sound").figures;
    let all = ALL.get_or_init(|| machines::names().into_iter().map(stated).collect());
    &all[machine % all.len()]
}

/// User input chosen by bytes: figures of the machine with its own values and others.
pub fn typed_by<'a>(bytes: &'a [u8], words: &'a str) -> Typed<'a> {
    let byte = |place: usize| usize::from(bytes.get(place).copied().unwrap_or(0));
    let machine = byte(0);
    let mut changes = Vec::new();
    for change in 0..byte(1) % 4 {
        let at = 2 + change * 4;
        let (own, other) = (figures(machine), figures(byte(at)));
        let (own, value) = (&own[byte(at + 1) % own.len()], &other[byte(at + 2) % other.len()].value);
        const VALUES: [&str; 12] = [
            "0",
            "1",
            "-1",
            "0ns",
            "1ns",
            "-1us",
            "60s",
            "106751d",
            "9223372036854775807",
            "0.5",
            "on",
            "p0=0ns p1=9h",
        ];
        let value = match byte(at + 3) {
            0 => words,
            choice @ 1..64 => VALUES[choice % VALUES.len()],
            64..160 => &own.value,
            _ => value,
        };
        changes.push(format!("{}={value}", own.path));
    }
    let number = |place: usize| {
        let span = (1_u64 << (byte(place) % 64)).wrapping_add(byte(place + 1) as u64).wrapping_sub(1);
        span as i64
    };
    let setting = |place: usize| match byte(place) % 4 {
        0 => Setting::Nanos(Nanos(number(place + 1))),
        1 => Setting::Flag(byte(place + 1) % 2 == 0),
        2 => Setting::Cpus(vec![number(place + 1) as u32]),
        _ => ask::setting(words).unwrap_or(Setting::Nanos(Nanos(1))),
    };
    Typed {
        machine,
        changes,
        question: words,
        tuned: (0..byte(14) % 3).map(|tuned| (byte(15 + tuned * 4), setting(16 + tuned * 4))).collect(),
        load: (byte(24) % 2 == 1).then(|| (byte(25), byte(26) as u32 % 32)),
        neighbour: (byte(27) % 4 == 1).then(|| setting(28)),
    }
}
