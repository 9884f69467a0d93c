//! The time from starting the command to its help, and to its first sample, as the shell sees it.
//!
//! Bars: `--help` takes at most 10 ms, and the first sample at most 50 ms. The second figure is an upper bound, because
//! it is a whole run of one sample, from start to exit with the result printed. `true` is the floor: the cost of
//! starting any program here. cyclictest polls for the end of its threads in steps of 10 and 50 ms, so its run shows
//! its time to a result, not to its first sample.

use std::path::PathBuf;
use std::process::ExitCode;

use oversleep_benches::program::{self, wall_time, words};
use oversleep_benches::{Bar, Pairs, Reason, Report, cyclictest, ours};

fn main() -> ExitCode {
    Report::run("startup", "peer", compare)
}

struct Contest {
    title: &'static str,
    own: Vec<String>,
    peer: Option<PathBuf>,
    peer_arguments: Vec<String>,
    bar: Bar,
    pairs: Pairs,
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let oversleep = program::oversleep()?;
    let cyclictest = cyclictest::find();
    if cyclictest.is_none() {
        report.skip(cyclictest::NOT_INSTALLED);
    }
    let floor = program::find("true");
    if floor.is_none() {
        report.skip("comparison with `true`: it isn't on the search path");
    }
    let (help, first) = (words("--help"), words("waits nanosleep --ask 1us --count 1 --quiet --json"));
    let contest = |title, own: &[String], peer: &Option<PathBuf>, peer_arguments, bar| Contest {
        title,
        own: own.to_vec(),
        peer: peer.clone(),
        peer_arguments: words(peer_arguments),
        bar,
        pairs: Pairs::default(),
    };
    let one_cycle = "--default-system --quiet --interval=1 --loops=1";
    let mut contests = [
        contest("--help, vs cyclictest --help", &help, &cyclictest, "--help", Bar::OursAtMost(10.0)),
        contest("--help, vs true", &help, &floor, "", Bar::None),
        contest("one sample, vs one cycle of cyclictest", &first, &cyclictest, one_cycle, Bar::OursAtMost(50.0)),
        contest("one sample, vs true", &first, &floor, "", Bar::None),
    ];
    // Without cyclictest the comparisons with the floor have the bars.
    for at in [0, 2] {
        if contests[at].peer.is_none() {
            contests[at + 1].bar = contests[at].bar;
        }
    }
    let pairs = report.pairs(40);
    report.say(&format!("{}; {pairs} pairs each, from start to exit, output dropped", ours::version(&oversleep)));
    for contest in &contests {
        if let Some(peer) = &contest.peer {
            let (own, theirs) = (program::line(&oversleep, &contest.own), program::line(peer, &contest.peer_arguments));
            report.say(&format!("  {own}\n  {theirs}"));
        }
    }
    // The first turn isn't measured, so that programs start from memory, not from a disk.
    for turn in 0..=pairs {
        for contest in &mut contests {
            let Some(peer) = &contest.peer else { continue };
            let own = wall_time(&oversleep, &contest.own)?;
            let theirs = wall_time(peer, &contest.peer_arguments)?;
            if turn > 0 {
                contest.pairs.push(own.as_secs_f64() * 1e3, theirs.as_secs_f64() * 1e3);
            }
        }
    }
    for contest in &contests {
        if contest.peer.is_some() {
            report.compare(contest.title, "ms", &contest.pairs, contest.bar);
        }
    }
    Ok(())
}
