//! What an installed command must do, however it was installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::clean_root::CleanRoot;
use super::product::UNIT;
use super::yard::{Refusal, Yard, run};

/// The wait that every system of that kind has.
pub const ON_UNIX: &str = "nanosleep";
pub const ON_WINDOWS: &str = "sleep";

/// Runs the command in a way that the package says, and says what was seen: its version, a measurement, and that it finds
/// what it has embedded.
pub fn of_command(
    version: &str,
    wait: &str,
    run: impl Fn(&[&str]) -> Result<String, Refusal>,
) -> Result<String, Refusal> {
    let printed = run(&["oversleep", "--version"])?;
    if printed.trim() != format!("oversleep {version}") {
        return Err(Refusal::Failed(format!("`oversleep --version` prints `{}`", printed.trim())));
    }
    let report = run(&["oversleep", "waits", wait, "--count", "50", "--quiet"])?;
    let lateness = row(&report, wait).ok_or_else(|| format!("no lateness of {wait} at 1 ms in: {report}"))?;
    // Each needs files that are in the command: probes, profiles.
    let runtimes = run(&["oversleep", "runtimes", "--list"])?;
    let machines = run(&["oversleep", "ask", "sleep(1ms)", "--on", "windows-11", "--quiet"])?;
    if !runtimes.contains("python") || !machines.contains("windows-11") {
        return Err(Refusal::Failed("the command lacks its probes or its profiles".to_owned()));
    }
    Ok(format!("{}, {lateness}", printed.trim()))
}

/// Whether systemd takes the installed unit, and what it says of its exposure, which must stay below 2 of 10.
pub fn unit(root: &CleanRoot) -> Result<String, Refusal> {
    if run(Command::new("systemd-analyze").arg("--version")).is_err() {
        return Ok("the unit is not judged (no systemd-analyze)".to_owned());
    }
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-euc", line, "sh"]).arg(root.path()).arg(UNIT);
        run(shell.env("LC_ALL", "C.UTF-8").env("SYSTEMD_COLORS", "0"))
    };
    // The unit needs those of a system, which are this one's. A key that systemd doesn't know is said, and no failure.
    let said = shell(
        "all=$(mktemp -d); trap 'rm -r \"$all\"' EXIT; mkdir -p \"$all/usr/bin\" \"$all/usr/lib/systemd\"
        cp -r /usr/lib/systemd/system \"$all/usr/lib/systemd\"; cp \"$1/$2\" \"$all/$2\"
        cp \"$1/usr/bin/oversleep\" \"$all/usr/bin\"; systemd-analyze verify --man=no --root=\"$all\" \"/$2\" 2>&1",
    )?;
    if !said.trim().is_empty() {
        return Err(Refusal::Failed(format!("of its unit, systemd says: {}", said.trim())));
    }
    let said = shell("systemd-analyze security --offline=true --threshold=20 --no-pager \"$1/$2\"")?;
    let level = said.lines().last().and_then(|line| line.split_once(": ")).map_or("unknown", |(_, level)| level.trim());
    Ok(format!("systemd verifies its unit, whose exposure is {level}"))
}

/// The median lateness of a request for 1 ms.
fn row(report: &str, wait: &str) -> Option<String> {
    let head = format!("Lateness of {wait} 1 ms");
    let mut lines = report.lines().skip_while(|line| line.trim_end() != head).skip(1);
    let (names, values) = (lines.next()?, lines.next()?);
    // Two spaces or more are between columns, one is inside of `75.7 µs`.
    let columns =
        |line: &str| line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
    let (names, values): (Vec<String>, Vec<String>) = (columns(names), columns(values));
    let value = |name: &str| values.get(names.iter().position(|head| head == name)?);
    Some(format!("{wait} 1 ms: {} values, p50 {}", value("count")?, value("p50")?))
}

/// A package for publication must not grow unseen.
pub fn size_at_most(yard: &Yard, file: &Path, bytes_max: u64) -> Result<(), Refusal> {
    let bytes = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    if bytes <= bytes_max || !yard.is_for_publication() {
        return Ok(());
    }
    let (is, max) = (bytes as f64 / 1e6, bytes_max as f64 / 1e6);
    Err(Refusal::Failed(format!("{} has {is:.2} MB, more than {max} MB", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
Lateness of nanosleep 300 µs
view         count      min      p50     max
as recorded     50  66.4 µs  75.7 µs  165 µs

Lateness of nanosleep 1 ms
view         count    min      p50     max
as recorded     50  69 µs  77.4 µs  544 µs
";

    #[test]
    fn the_lateness_is_that_of_one_millisecond() {
        assert_eq!(row(REPORT, "nanosleep").as_deref(), Some("nanosleep 1 ms: 50 values, p50 77.4 µs"));
        assert_eq!(row(REPORT, "sleep"), None);
    }
}
