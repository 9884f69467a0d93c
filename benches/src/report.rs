//! What a program prints, and saves in `benches/runs/`: the machine, the commands, each comparison with its bar.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::machine::{Machine, load_average};
use crate::{Bar, Options, Pairs, Reason, date, program};

/// A report in progress, which prints every line at once.
#[derive(Debug)]
pub struct Report {
    name: &'static str,
    peer: &'static str,
    /// The machine that is measured.
    pub machine: Machine,
    /// The options of this run.
    pub options: Options,
    text: String,
    measured: bool,
    missed: u32,
}

impl Report {
    /// Reads the options and runs `body`, which measures and reports. This is a program's whole `main`.
    ///
    /// The exit code is 0 if something was measured, or skipped for a reason; 1 for a missed bar with `--strict`; 2 if
    /// the program could not run.
    pub fn run(name: &'static str, peer: &'static str, body: fn(&mut Report) -> Result<(), Reason>) -> ExitCode {
        let options = match Options::read() {
            Ok(Some(options)) => options,
            Ok(None) => {
                println!("{name} measures only in a bench run: `cargo bench -p oversleep-benches --bench {name}`");
                return ExitCode::SUCCESS;
            }
            Err(reason) => return failed(name, &reason),
        };
        let machine = Machine::here();
        let mut report = Report { name, peer, machine, options, text: String::new(), measured: false, missed: 0 };
        report.say(&format!("machine: {}", report.machine.line()));
        let ended = body(&mut report);
        if report.measured {
            report.say(&format!("load average at the end: {}", load_average()));
        }
        if let Err(reason) = ended {
            return failed(name, &reason);
        }
        if report.options.save && report.measured {
            match report.save() {
                Ok(path) => println!("added to {}", path.display()),
                Err(reason) => return failed(name, &reason),
            }
        }
        if report.missed > 0 && report.options.strict { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }

    /// Prints and keeps one or more lines.
    pub fn say(&mut self, text: &str) {
        println!("{text}");
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Prints and keeps figures that no bar is for.
    pub fn say_measured(&mut self, text: &str) {
        self.measured = true;
        self.say(text);
    }

    /// Reports something that can't be measured here, and why.
    pub fn skip(&mut self, why: &str) {
        self.say(&format!("SKIPPED: {why}"));
    }

    /// Prints the progress of a long run, which isn't part of the report.
    pub fn progress(&self, text: &str) {
        eprintln!("  {text}");
    }

    /// Pairs per comparison.
    pub fn pairs(&self, default: usize) -> usize {
        self.options.pairs.unwrap_or(default)
    }

    /// Values per run.
    pub fn count(&self, default: u64) -> u64 {
        self.options.count.unwrap_or(default)
    }

    /// Reports a comparison with its figures, and PASS or MISS if it has a bar.
    pub fn compare(&mut self, title: &str, unit: &str, pairs: &Pairs, bar: Bar) {
        self.measured = true;
        let (text, met) = comparison(title, unit, self.peer, pairs, bar);
        self.missed += u32::from(met == Some(false));
        self.say(&text);
    }

    /// Reports whether a statement holds, as a bar without a comparison.
    pub fn judge(&mut self, statement: &str, holds: bool) {
        self.measured = true;
        self.missed += u32::from(!holds);
        self.say(&format!("  bar: {statement}: {}", if holds { "PASS" } else { "MISS" }));
    }

    fn save(&self) -> Result<PathBuf, Reason> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs");
        let path = directory.join(format!("{}-{}.md", date::today(), self.machine.slug()));
        let written = std::fs::create_dir_all(&directory).and_then(|()| {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path)?;
            if file.metadata()?.len() == 0 {
                writeln!(file, "# Comparisons of {}, {}", date::today(), self.machine.os)?;
            }
            write!(file, "\n## {}\n\nTree: {}\n\n```text\n{}```\n", self.name, tree(), self.text)
        });
        written.map_err(|error| format!("{} could not be written: {error}", path.display()))?;
        Ok(path)
    }
}

fn failed(name: &str, reason: &str) -> ExitCode {
    eprintln!("{name} could not run: {reason}");
    ExitCode::from(2)
}

/// The measured commit, and whether the files differ from it.
fn tree() -> String {
    let git = |arguments: &str| {
        let mut words = program::words("-C");
        words.push(program::root().display().to_string());
        words.extend(program::words(arguments));
        program::output(Path::new("git"), &words).ok()
    };
    match (git("rev-parse --short=12 HEAD"), git("status --porcelain --untracked-files=no")) {
        (Some(commit), Some(changes)) if changes.trim().is_empty() => commit.trim().to_owned(),
        (Some(commit), _) => format!("{} with changes", commit.trim()),
        (None, _) => "unknown".to_owned(),
    }
}

fn comparison(title: &str, unit: &str, peer: &str, pairs: &Pairs, bar: Bar) -> (String, Option<bool>) {
    let Some(summary) = pairs.summary() else {
        return (format!("\n{title}\n  no pair has a ratio: the peer's figures are all zero"), None);
    };
    let mut text = format!(
        "\n{title}\n  ours {} {unit}, {peer} {} {unit} (medians of {} runs each)\n  ratio {:.3}, {:.3}..{:.3} (median, \
         min..max of the pairs); ours larger in {} of {}",
        figure(summary.ours),
        figure(summary.peer),
        summary.pairs,
        summary.ratio,
        summary.ratio_min,
        summary.ratio_max,
        summary.larger,
        summary.pairs
    );
    let met = bar.is_met(pairs, &summary);
    if let Some(met) = met {
        let _ = write!(text, "\n  bar: {bar}: {}", if met { "PASS" } else { "MISS" });
    }
    if let Some(variation) = pairs.peer_variation() {
        let _ = write!(text, "\n  {peer} varies by {:.1} % from run to run (median)", variation * 100.0);
        if matches!(bar, Bar::RatioWithin(share) if variation > share)
            || matches!(bar, Bar::RatioAtMost(max) if 1.0 + variation > max)
        {
            text.push_str(", more than the bar allows: run this again on a quieter machine");
        }
    }
    (text, met)
}

/// A figure with its significant digits.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1_000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(f64, f64)]) -> Pairs {
        let mut pairs = Pairs::default();
        of.iter().for_each(|&(ours, peer)| pairs.push(ours, peer));
        pairs
    }

    #[test]
    fn a_comparison_states_medians_ratios_and_the_verdict() {
        let steady = pairs(&[(105.0, 100.0), (104.0, 101.0), (106.0, 100.0)]);
        let (text, met) = comparison("p50", "µs", "cyclictest", &steady, Bar::RatioWithin(0.1));
        assert_eq!(met, Some(true));
        assert_eq!(
            text,
            "\np50\n  ours 105.0 µs, cyclictest 100.0 µs (medians of 3 runs each)\n  ratio 1.050, 1.030..1.060 (median, \
             min..max of the pairs); ours larger in 3 of 3\n  bar: ratio 0.90 to 1.10: PASS\n  cyclictest varies by 1.0 % \
             from run to run (median)"
        );
        let (text, met) = comparison("p50", "µs", "cyclictest", &steady, Bar::RatioAtMost(1.04));
        assert!(met == Some(false) && text.contains("MISS"), "{text}");
    }

    #[test]
    fn a_peer_that_varies_by_more_than_the_bar_is_noted() {
        let noisy = pairs(&[(100.0, 100.0), (150.0, 150.0), (100.0, 100.0)]);
        assert!(comparison("p99", "µs", "cyclictest", &noisy, Bar::RatioWithin(0.1)).0.contains("quieter"));
        assert!(!comparison("p99", "µs", "cyclictest", &noisy, Bar::None).0.contains("quieter"));
        assert_eq!(comparison("p99", "µs", "cyclictest", &pairs(&[]), Bar::RatioWithin(0.1)).1, None);
    }

    #[test]
    fn figures_keep_four_digits() {
        assert_eq!([12_345.6, 123.45, 12.345, 1.2345].map(figure), ["12346", "123.5", "12.35", "1.234"]);
    }
}
