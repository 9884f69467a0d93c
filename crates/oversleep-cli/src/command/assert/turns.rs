//! Base and new in turns, pair by pair: two commands under `why`'s supervisor, or two settings of this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::mpsc;
use std::thread;

use oversleep_lab::assert::{
    Assertion, Claim, Figure, LOOKS, Observed, Pairs, Requests, Subject, figures_of, names_of, seldom,
};
use oversleep_measure::{Limit, Silent, StopFlag};
use oversleep_record::assertion::{Judged, Verdict};
use oversleep_record::{Nanos, ResultFile};
use oversleep_request::args::ConditionArgs;
use oversleep_request::assertions;

use super::allowance::Allowance;
use super::{Assert, here};
use crate::command::run::measure::Runs;
use crate::exit::Failure;
use crate::request::machine;
use crate::{interrupt, message};

/// The exit codes of a run that a signal ended.
const BY_SIGNAL: [i32; 2] = [130, 143];
/// The waits of one side of a pair.
const COUNT: u64 = 60;

/// Pairs of everything that the assertions are about.
struct Gate<'a> {
    assertions: &'a [Assertion],
    /// Whether each of them has to be compared. Those about all programs are about what there is.
    is_each_named: bool,
    tolerance: f64,
    turns: usize,
    /// The longest pair.
    pair_ns: Nanos,
    pairs: BTreeMap<(usize, String), Pairs>,
    /// What one side alone has, and how often: the base, the other.
    alone: BTreeMap<String, [usize; 2]>,
}

impl<'a> Gate<'a> {
    fn new(assertions: &'a [Assertion], is_each_named: bool, tolerance: f64) -> Result<Gate<'a>, Failure> {
        for assertion in assertions {
            match &assertion.claim {
                Claim::Figure { bound: None, figure: Figure::Quantile(_) | Figure::Mean | Figure::Cost, .. } => {}
                _ => {
                    return Err(Failure::usage(format!(
                        "'{}': in turns, only percentiles, means and costs are compared, without a limit of their own; \
                         --max-regression states it",
                        assertion.text
                    )));
                }
            }
        }
        let (pairs, alone) = (BTreeMap::new(), BTreeMap::new());
        Ok(Gate { assertions, is_each_named, tolerance, turns: 0, pair_ns: Nanos::ZERO, pairs, alone })
    }

    /// Adds what one pair of runs shows.
    fn add(&mut self, base: &ResultFile, new: &ResultFile) -> Result<(), Failure> {
        self.turns += 1;
        for (at, assertion) in self.assertions.iter().enumerate() {
            let unknown = |error| assertions::unknown(&error);
            let mut of_base = figures_of(base, assertion).map_err(unknown)?;
            for (about, value) in figures_of(new, assertion).map_err(unknown)? {
                match of_base.iter().position(|(other, _)| *other == about) {
                    Some(place) => {
                        let (_, base) = of_base.swap_remove(place);
                        self.pairs.entry((at, about)).or_default().add(base, value);
                    }
                    None => self.alone.entry(about).or_default()[1] += 1,
                }
            }
            of_base.into_iter().for_each(|(about, _)| self.alone.entry(about).or_default()[0] += 1);
        }
        Ok(())
    }

    fn is_look(&self) -> bool {
        self.pairs.values().any(Pairs::is_look)
    }

    fn is_usual(&self, pairs: usize) -> bool {
        pairs * 2 > self.turns
    }

    /// What comes in most runs. A wait whose request is computed may be rounded to another one now and then.
    fn usual(&self) -> impl Iterator<Item = (&(usize, String), &Pairs)> {
        self.pairs.iter().filter(|(_, pairs)| self.is_usual(pairs.len()))
    }

    fn most(&self) -> usize {
        self.pairs.values().map(Pairs::len).max().unwrap_or(0)
    }

    fn judge(&self) -> Vec<Judged> {
        let together = self.usual().count();
        let mut judged = Vec::new();
        for (place, assertion) in self.assertions.iter().enumerate() {
            let of_this = self.usual().filter(|((at, _), _)| *at == place);
            let before = judged.len();
            judged.extend(of_this.map(|((_, about), pairs)| {
                pairs.judge(assertion, about.clone(), self.tolerance, together, self.pair_ns)
            }));
            if judged.len() == before && self.is_each_named {
                let most = self.pairs.iter().filter(|((at, _), _)| *at == place).map(|(_, pairs)| pairs.len()).max();
                judged.push(seldom(assertion, most.unwrap_or(0), self.turns));
            }
        }
        judged
    }

    /// Says what was seen and not compared.
    fn note_the_rest(&self) {
        let often = |side: usize| self.alone.iter().filter(move |(_, sides)| self.is_usual(sides[side]));
        let names = |side: usize| often(side).map(|(about, _)| about.clone()).collect();
        let rare = self.pairs.iter().filter(|(_, pairs)| !self.is_usual(pairs.len()));
        for (why, left_out) in [
            ("only the base has it", names(0)),
            ("the base doesn't have it", names(1)),
            ("too few pairs of runs have it", rare.map(|((_, about), _)| about.clone()).collect()),
        ] {
            let left_out: Vec<String> = left_out;
            if !left_out.is_empty() {
                message::note(&format!("not compared, because {why}: {}", left_out.join("; ")));
            }
        }
    }

    fn is_decided(&self) -> bool {
        !self.pairs.is_empty() && self.judge().iter().all(|judged| judged.verdict != Verdict::Undecided)
    }

    /// Adds pairs until all is decided, or the time is used up, or the last look was taken.
    fn run(
        mut self,
        within: Nanos,
        mut pair: impl FnMut(bool) -> Result<Option<(ResultFile, ResultFile)>, Failure>,
    ) -> Result<(Vec<Judged>, bool), Failure> {
        let mut allowance = Allowance::new(within);
        for turn in 0.. {
            let Some((base, new)) = pair(turn % 2 == 1)? else { return Ok((self.judge(), true)) };
            self.add(&base, &new)?;
            let virtual_ns = Nanos(base.duration_ns.0.saturating_add(new.duration_ns.0));
            let has_time = allowance.has_time(new.platform.modelled.as_ref().map(|_| virtual_ns));
            self.pair_ns = allowance.longest();
            if self.is_look() && self.is_decided() {
                break;
            }
            if self.most() >= LOOKS[LOOKS.len() - 1] || !has_time {
                break;
            }
        }
        let mut judged = self.judge();
        self.note_the_rest();
        if judged.is_empty() {
            // A few runs of a disturbed machine may miss what they share. Eleven pairs that share nothing are a wrong gate.
            if self.turns >= LOOKS[0] {
                return Err(Failure::failed(
                    "base and new have no waits in common that could be compared; a run has to make a wait five times",
                ));
            }
            judged = self.assertions.iter().map(|assertion| seldom(assertion, self.most(), self.turns)).collect();
        }
        Ok((judged, false))
    }
}

/// Two settings.
pub fn settings(
    assert: &Assert,
    assertions: &[Assertion],
    within: Nanos,
    is_interrupted: &mut bool,
) -> Result<Vec<Judged>, Failure> {
    let gate = Gate::new(assertions, true, assert.tolerance())?;
    let lab = machine::laboratory(&assert.machine)?;
    let under = |settings: &[_]| {
        let conditions = ConditionArgs { tune: settings.to_vec(), ..ConditionArgs::default() };
        let mut requests = here::requests(&lab, assert, assertions, conditions)?;
        requests.iter_mut().for_each(|request| request.plan.limit = Some(Limit::Count(COUNT)));
        Ok::<_, Failure>(requests)
    };
    let sides = [under(&assert.base_setting)?, under(&assert.new_setting)?];
    let stop = StopFlag::new();
    let signals = interrupt::raise_on_signal(&stop);
    let (judged, was_stopped) = gate.run(within, |is_new_first| {
        let one = |at: usize| here::run(&lab, &sides[at], &stop, &mut Silent);
        let (base, new) = if is_new_first {
            let new = one(1)?;
            (one(0)?, new)
        } else {
            (one(0)?, one(1)?)
        };
        Ok((!stop.is_raised()).then_some((base, new)))
    })?;
    drop(signals);
    *is_interrupted = was_stopped;
    Ok(judged)
}

/// Two commands.
pub fn commands(
    base: &str,
    new: &str,
    assertions: &[Assertion],
    tolerance: f64,
    within: Nanos,
    is_interrupted: &mut bool,
) -> Result<Vec<Judged>, Failure> {
    let every = [of_every_program("why(*)", Subject::Why), of_every_program("period(*)", Subject::Period)];
    let is_default = assertions.is_empty();
    let gate = Gate::new(if is_default { &every } else { assertions }, !is_default, tolerance)?;
    let runs = Runs::new()?;
    interrupt::leave_to_programs();
    message::note("base and new run in turns, followed by the supervisor");
    let mut requests = Requests::default();
    let mut followed = |command: &str| -> Result<Option<ResultFile>, Failure> {
        let options = ["--by", "supervisor"].map(OsString::from);
        // Verdicts may be a document on standard output.
        // `env` takes what the program's environment has beyond this one's, as a shell would.
        let program = [OsString::from("sh"), "-c".into(), format!("exec >&2; exec env {command}").into()];
        let outlasting = Outlasting::begin(command, within);
        let (path, (end, is_signalled)) = runs.followed("turn.json", &options, &program)?;
        drop(outlasting);
        let code = end.code();
        if is_signalled || BY_SIGNAL.contains(&code) {
            return Ok(None);
        }
        if code != 0 {
            return Err(Failure::failed(format!("'{command}' ended with {code}; only runs that succeed are compared")));
        }
        let mut file = super::read(&path)?;
        std::fs::remove_file(&path)
            .map_err(|error| Failure::failed(format!("can't remove '{}': {error}", path.display())))?;
        names_of(&mut file, &mut requests);
        Ok(Some(file))
    };
    let (judged, was_stopped) = gate.run(within, |is_new_first| {
        let (first, second) = if is_new_first { (new, base) } else { (base, new) };
        let Some(one) = followed(first)? else { return Ok(None) };
        let Some(two) = followed(second)? else { return Ok(None) };
        Ok(Some(if is_new_first { (two, one) } else { (one, two) }))
    })?;
    *is_interrupted = was_stopped;
    Ok(judged)
}

/// Says that a command runs for longer than the gate may, for as long as this lives.
struct Outlasting {
    _ends: mpsc::Sender<()>,
}

impl Outlasting {
    fn begin(command: &str, within: Nanos) -> Outlasting {
        let (sender, ends) = mpsc::channel::<()>();
        let (text, most) = (
            format!("'{command}' has run for all of --within ({within}), and goes on; a gate needs programs that end"),
            within.to_std().unwrap_or_default(),
        );
        thread::spawn(move || {
            if ends.recv_timeout(most) == Err(mpsc::RecvTimeoutError::Timeout) {
                message::warning(&text);
            }
        });
        Outlasting { _ends: sender }
    }
}

fn of_every_program(text: &str, subject: impl Fn(Observed) -> Subject) -> Assertion {
    let observed = Observed { program: "*".to_owned(), ..Observed::default() };
    let claim = Claim::Figure { subject: subject(observed), figure: Figure::Quantile(0.5), bound: None };
    Assertion { text: text.to_owned(), place: None, claim }
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    /// Pairs of runs that saw no waits, in virtual time.
    fn apart(turns: i64) -> Result<Vec<Judged>, Failure> {
        let assertions = [assertions::parse("why(*)").expect("it is one")];
        let gate = Gate::new(&assertions, false, 0.25)?;
        let run = || {
            let mut file = Sheet::linux().file;
            file.platform.modelled = Some("linux".to_owned());
            file.duration_ns = Nanos::from_secs(1);
            file
        };
        let pair = |_| Ok(Some((run(), run())));
        gate.run(Nanos::from_secs(2 * turns), pair).map(|(judged, _)| judged)
    }

    #[test]
    fn a_few_runs_without_waits_in_common_decide_nothing_and_many_are_an_error() {
        let judged = apart(3).expect("no error");
        assert_eq!(judged.iter().map(|judged| judged.verdict).collect::<Vec<_>>(), [Verdict::Undecided]);
        assert!(judged[0].message.contains("no pair of runs has it on both sides"), "{}", judged[0].message);
        assert!(apart(20).is_err_and(|failure| failure.to_string().contains("no waits in common")));
    }
}
