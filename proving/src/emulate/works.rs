//! Builds of real projects: through the emulation they give the same files, and take at most a twentieth longer. The CPU
//! time of all their processes, the supervisor's among them, stands beside that: other load disturbs it less.

use std::time::Instant;

use super::{Bench, Verdict};

/// How much longer a build may take.
const ALLOWED_PERCENT: f64 = 5.0;

/// A build of something that is on the machine anyway. All are scripts for `sh`.
struct Work {
    name: &'static str,
    /// Once, natively; it fails where something isn't installed.
    prepare: &'static str,
    /// Before each build.
    clean: &'static str,
    build: &'static str,
    /// Prints what was built.
    result: &'static str,
}

const WORKS: &[Work] = &[
    Work {
        name: "go",
        prepare: "go version && test -d \"$(go env GOROOT)/src/cmd/gofmt\" && mkdir -p work-go",
        clean: "rm -rf work-go/cache work-go/gofmt",
        build: "GOCACHE=$PWD/work-go/cache go build -trimpath -o work-go/gofmt cmd/gofmt",
        result: "sha256sum work-go/gofmt",
    },
    Work {
        name: "javac",
        // The first JDK that comes with its sources; some packages have only a link to them.
        prepare: "mkdir -p work-javac && cd work-javac && \
                  for javac in \"$(readlink -f \"$(command -v javac)\")\" /usr/lib/jvm/*/bin/javac; do \
                  jdk=$(dirname \"$(dirname \"$javac\")\"); \
                  if test -e \"$jdk/lib/src.zip\"; then break; fi; done && \
                  ln -sfn \"$jdk\" jdk && jdk/bin/jar xf jdk/lib/src.zip java.base/java/util",
        clean: "rm -rf work-javac/out",
        build: "cd work-javac && jdk/bin/javac -nowarn -XDignore.symbol.file --patch-module java.base=java.base -d out \
                $(find java.base/java/util -name '*.java' | sort)",
        result: "cd work-javac && find out -type f | sort | xargs sha256sum",
    },
    Work {
        name: "make",
        prepare: "cmake -S /usr/src/googletest/googletest -B work-make -Dgtest_build_samples=ON",
        clean: "make -s -C work-make clean",
        build: "make -s -j4 -C work-make",
        result: "cd work-make && sha256sum $(find . -name '*.a' -o -name '*_unittest' | sort)",
    },
    Work {
        name: "npm",
        prepare: "mkdir -p work-npm && cd work-npm && npm pack --silent --ignore-scripts \"$(npm root -g)/npm\"",
        clean: "rm -rf work-npm/project && mkdir work-npm/project && echo '{}' >work-npm/project/package.json",
        build: "cd work-npm/project && npm install --silent --offline --no-audit --no-fund --cache ../cache ../npm-*.tgz",
        result: "cd work-npm/project && find node_modules -type f ! -name .package-lock.json | sort | xargs sha256sum",
    },
];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let (mut is_fine, mut are_some) = (true, false);
    let pairs = if bench.is_whole { 9 } else { 2 };
    for work in WORKS.iter().filter(|work| bench.wants("works", work.name)) {
        let script = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        let natively = |words: &str| bench.program(None, &script(words)).output();
        if !natively(work.prepare).is_ok_and(|output| output.status.success()) {
            println!("  {}: not installed", work.name);
            continue;
        }
        are_some = true;
        let built = |options: Option<&[&str]>| -> Result<(Cost, String), String> {
            bench.output(None, &script(work.clean))?;
            let (begun, cpu_before) = (Instant::now(), cpu_s_of_children()?);
            let output = bench.program(options, &script(work.build)).output().map_err(|error| error.to_string())?;
            let took = Cost { wall_s: begun.elapsed().as_secs_f64(), cpu_s: cpu_s_of_children()? - cpu_before };
            if !output.status.success() {
                return Err(format!("{}: {}", work.name, String::from_utf8_lossy(&output.stderr)));
            }
            Ok((took, bench.output(None, &script(work.result))?))
        };
        // The first of all fills the system's caches.
        built(None)?;
        let (mut natives, mut others, mut is_same) = (Vec::new(), Vec::new(), true);
        for pair in 0..pairs {
            // Each comes first in every other pair.
            let ((native, expected), (emulated, given)) = if pair % 2 == 0 {
                let native = built(None)?;
                (native, built(Some(&[]))?)
            } else {
                let emulated = built(Some(&[]))?;
                (built(None)?, emulated)
            };
            is_same &= expected == given && !given.trim().is_empty();
            natives.push(native);
            others.push(emulated);
        }
        let longer = |of: fn(&Cost) -> f64| {
            sorted(natives.iter().zip(&others).map(|(native, emulated)| of(emulated) / of(native) - 1.0))
        };
        let [wall, cpu] = [longer(|cost| cost.wall_s), longer(|cost| cost.cpu_s)].map(|all| median(&all) * 100.0);
        let [native, emulated] = [&natives, &others].map(|costs| sorted(costs.iter().map(|cost| cost.wall_s)));
        is_fine &= is_same && wall <= ALLOWED_PERCENT;
        println!(
            "  {}: {} files, {wall:+.1} % at the median of {pairs} pairs (bar {ALLOWED_PERCENT:+.0} %), {:+.1} % from fastest to \
             fastest, CPU time {cpu:+.1} %; natively {:.1} s, which vary by {:.0} %",
            work.name,
            if is_same { "the same" } else { "OTHER" },
            (emulated[0] / native[0] - 1.0) * 100.0,
            median(&native),
            (native[pairs - 1] / native[0] - 1.0) * 100.0,
        );
    }
    Ok(match (are_some, is_fine) {
        (false, _) => Verdict::Skipped,
        (true, true) => Verdict::Holds,
        (true, false) => Verdict::Fails,
    })
}

/// What a build takes.
struct Cost {
    wall_s: f64,
    cpu_s: f64,
}

/// The CPU time of all ended children of this process and of theirs.
fn cpu_s_of_children() -> Result<f64, String> {
    // `USER_HZ`, the unit of these fields, whatever the kernel's tick: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const UNITS_PER_SECOND: f64 = 100.0;
    let path = "/proc/self/stat";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    // Fields 16 and 17; the second is the program's name in brackets, which may have spaces.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let units: Vec<f64> = after_name.split_whitespace().skip(13).take(2).filter_map(|word| word.parse().ok()).collect();
    match units[..] {
        [user, system] => Ok((user + system) / UNITS_PER_SECOND),
        _ => Err(format!("{path} has no times of children: {text}")),
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of values in order.
fn median(values: &[f64]) -> f64 {
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}
