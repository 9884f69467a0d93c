//! `cargo prove check --old PATH`: an older `oversleep check` and today's by turns on this machine, idle and beside two busy
//! threads. Today's must conclude what the older one does at least as often as that one agrees with itself, less one, where
//! it may also conclude what the older one left open; its
//! largest cost must be the same where the older one's always is; and on an idle machine half of its checks take at most ten
//! seconds. `--pairs N` runs fewer or more than 20 of each; `--binary PATH` tests another command than the one built here.
//! Whether the machine is idle is for whoever runs it to see to: a time above the limit on a busy one proves nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{fs, hint, thread};

use oversleep_explain::costs::Costs;
use oversleep_record::finding::Verdict;
use oversleep_record::{ExperimentId, ResultFile};
use xtask_tools::target_directory;

use crate::built;

/// The time that half of the checks of an idle machine may take.
const MEDIAN_MAX_S: f64 = 10.0;

/// What a check came to.
struct Concluded {
    /// The verdict on every finding, by id.
    verdicts: BTreeMap<String, Verdict>,
    /// The name of the finding that costs most.
    largest: Option<String>,
    time_s: f64,
}

impl Concluded {
    fn of(file: &ResultFile, time_s: f64) -> Concluded {
        let plain = file.experiment(ExperimentId::B5).next().map(|series| series.subject.clone()).unwrap_or_default();
        let largest = Costs::of(file, &file.findings, &plain).of_any_call.map(|cost| cost.finding.name.clone());
        let verdicts = file.findings.iter().map(|finding| (finding.id.clone(), finding.verdict)).collect();
        Concluded { verdicts, largest, time_s }
    }

    /// The findings on which a later check contradicts this one, or leaves open what this one concluded.
    fn apart(&self, later: &Concluded) -> Vec<String> {
        let is_conclusion = |verdict: &Verdict| matches!(verdict, Verdict::Found | Verdict::NotFound);
        let other = self.verdicts.iter().filter(|(_, verdict)| is_conclusion(verdict)).filter_map(|(id, verdict)| {
            let later = later.verdicts.get(id);
            (later != Some(verdict)).then(|| format!("{id}: {verdict:?}, then {later:?}"))
        });
        other.collect()
    }
}

/// What was typed.
struct Typed {
    old: PathBuf,
    new: Option<PathBuf>,
    pairs: usize,
}

impl Typed {
    fn from(args: &[String]) -> Result<Typed, String> {
        let (mut old, mut new, mut pairs) = (None, None, 20);
        let mut args = args.iter();
        while let Some(one) = args.next() {
            let value = args.next().ok_or_else(|| format!("{one} takes a value"));
            match one.as_str() {
                "--old" => old = Some(PathBuf::from(value?)),
                "--binary" => new = Some(PathBuf::from(value?)),
                "--pairs" => pairs = value?.parse().map_err(|_| "--pairs takes a number".to_owned())?,
                other => return Err(format!("check takes --old PATH, --binary PATH and --pairs N, not `{other}`")),
            }
        }
        let old = old.ok_or("check compares with an older command: --old PATH")?;
        Ok(Typed { old, new, pairs })
    }
}

/// Runs the suite. Exit code 0: today's agrees with the older one as well as that agrees with itself, and is in time.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let typed = Typed::from(args)?;
    let new = match typed.new.clone() {
        Some(path) => path,
        None => built::release(root)?,
    };
    let scratch = target_directory(root).join("proving/check");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let mut is_right = true;
    for (name, busy) in [("idle", 0), ("beside 2 busy threads", 2)] {
        let runs = by_turns([&typed.old, &new], typed.pairs, busy, &scratch)?;
        is_right &= judged(name, busy == 0, &runs);
    }
    Ok(ExitCode::from(u8::from(!is_right)))
}

/// Runs both commands by turns beside that many busy threads.
fn by_turns(commands: [&Path; 2], pairs: usize, busy: usize, scratch: &Path) -> Result<[Vec<Concluded>; 2], String> {
    let is_over = AtomicBool::new(pairs == 0);
    let mut runs = [Vec::new(), Vec::new()];
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let all = (0..pairs * 2).try_for_each(|turn| {
            // Neither is always the first.
            let which = (turn + turn / 2) % 2;
            runs[which].push(check(commands[which], scratch)?);
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        all
    })
    .map(|()| runs)
}

fn check(command: &Path, scratch: &Path) -> Result<Concluded, String> {
    let out = scratch.join("result.json");
    let begun = Instant::now();
    let mut program = Command::new(command);
    program.args(["check", "--quiet", "--out"]).arg(&out).stdout(Stdio::null());
    program.status().map_err(|error| format!("can't run '{}': {error}", command.display()))?;
    let time_s = begun.elapsed().as_secs_f64();
    let bytes = fs::read(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let file = ResultFile::read(&bytes).map_err(|error| format!("{}: {error}", out.display()))?;
    Ok(Concluded::of(&file, time_s))
}

/// Prints what the runs came to. Returns whether that is right.
fn judged(name: &str, is_idle: bool, [old, new]: &[Vec<Concluded>; 2]) -> bool {
    let between: Vec<Vec<String>> = old.iter().zip(new).map(|(old, new)| old.apart(new)).collect();
    let own: Vec<Vec<String>> = old.iter().zip(old.iter().skip(1)).map(|(one, next)| one.apart(next)).collect();
    let alike = |pairs: &[Vec<String>]| pairs.iter().filter(|apart| apart.is_empty()).count();
    let differing =
        |pairs: &[Vec<String>]| pairs.iter().map(Vec::len).sum::<usize>() as f64 / pairs.len().max(1) as f64;
    let same_cost = old.iter().zip(new).filter(|(old, new)| old.largest == new.largest).count();
    let own_cost = old.iter().zip(old.iter().skip(1)).filter(|(one, next)| one.largest == next.largest).count();
    let (old_s, new_s) = (median(old), median(new));
    println!(
        "{name}: {} pairs; all findings alike in {} (the older with itself: {} of {}); {:.1} findings apart in a pair ({:.1}); the \
         largest cost the same in {same_cost} ({own_cost} of {}); half take at most {new_s:.1} s ({old_s:.1} s)",
        between.len(),
        alike(&between),
        alike(&own),
        own.len(),
        differing(&between),
        differing(&own),
        own.len(),
    );
    let mut often: BTreeMap<&str, usize> = BTreeMap::new();
    between.iter().flatten().for_each(|apart| *often.entry(apart).or_default() += 1);
    often.iter().for_each(|(apart, count)| println!("{name}: in {count} pairs {apart}"));
    // There is one pair less of the older one's neighbouring runs.
    let is_like = alike(&between) + 1 >= alike(&own) && same_cost >= own_cost;
    let is_in_time = !is_idle || new_s <= MEDIAN_MAX_S || new.is_empty();
    for (is_right, what) in [(is_like, "it concludes otherwise"), (is_in_time, "it takes too long")] {
        if !is_right {
            println!("FAILED {name}: {what}");
        }
    }
    is_like && is_in_time
}

fn median(runs: &[Concluded]) -> f64 {
    let mut times: Vec<f64> = runs.iter().map(|run| run.time_s).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(verdict: Verdict, time_s: f64) -> Concluded {
        let verdicts = [("OVS-L001".to_owned(), verdict), ("OVS-G005".to_owned(), Verdict::Found)].into();
        Concluded { verdicts, largest: Some("timer-slack".to_owned()), time_s }
    }

    #[test]
    fn what_contradicts_the_older_one_more_often_than_that_does_itself_fails() {
        let old = || (0..5).map(|_| run(Verdict::Found, 18.0)).collect::<Vec<_>>();
        let new = |time_s| (0..5).map(|_| run(Verdict::Found, time_s)).collect::<Vec<_>>();
        assert!(judged("idle", true, &[old(), new(9.5)]));
        assert!(!judged("idle", true, &[old(), new(10.5)]));
        assert!(judged("busy", false, &[old(), new(17.0)]), "only an idle machine has a limit");
        let others = (0..5).map(|_| run(Verdict::NotFound, 9.5)).collect();
        assert!(!judged("idle", true, &[old(), others]));
        let unknown = |file: Verdict| (0..5).map(|_| run(file, 9.5)).collect::<Vec<_>>();
        assert!(judged("idle", true, &[unknown(Verdict::NotEnoughData), new(9.5)]), "it may conclude more");
        assert!(!judged("idle", true, &[old(), unknown(Verdict::NotEnoughData)]), "but no less");
        let apart = run(Verdict::Found, 1.0).apart(&run(Verdict::NotFound, 1.0));
        assert_eq!(apart, ["OVS-L001: Found, then Some(NotFound)"]);
    }
}
