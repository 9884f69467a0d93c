//! From starting the command to its help, and to its first sample, as the shell sees it.
//!
//! Bars: `--help` at most 10 ms; start to first sample at most 50 ms. The second is measured as the whole run of one
//! sample, from start to exit with its result printed, so the figure is an upper bound. `true` beside them is the floor:
//! what starting any program costs here. cyclictest polls for its threads' end in steps of 10 and 50 ms, so its run of
//! one sample says nothing of its first sample; it is shown because that is the peer's time to a result.

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
        report.skip("there is no `true` on the search path");
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
        contest("--help, beside cyclictest --help", &help, &cyclictest, "--help", Bar::OursAtMost(10.0)),
        contest("--help, beside true", &help, &floor, "", Bar::None),
        contest("one sample, beside cyclictest's one cycle", &first, &cyclictest, one_cycle, Bar::OursAtMost(50.0)),
        contest("one sample, beside true", &first, &floor, "", Bar::None),
    ];
    // Without cyclictest the bars are held against the floor.
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
    // Once each, unmeasured: what is measured is a start from memory, not from a disk.
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
