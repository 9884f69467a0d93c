//! The calls that the Windows command imports. A call that PLATFORM.md describes as looked up must not be imported, or
//! the program can't start on systems without that call.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Lists what a program imports.
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";

/// Rust's standard library imports these for this target; its target for Windows 7 (`x86_64-win7-windows-gnu`) doesn't.
const BY_STD: &[&str] = &["GetSystemTimePreciseAsFileTime", "WaitOnAddress", "WakeByAddressSingle"];
/// Looked up although every Windows since 2000 has it, because it is undocumented. The library imports it.
const ALWAYS_THERE: &[&str] = &["NtSetTimerResolution"];

/// Checks that a program imports nothing that is looked up.
pub fn check(root: &Path, program: &Path) -> Result<(), String> {
    let platform =
        std::fs::read_to_string(root.join("PLATFORM.md")).map_err(|error| format!("PLATFORM.md: {error}"))?;
    let looked_up = looked_up(&platform);
    let newer = newer(&platform);
    if looked_up.is_empty() || newer.is_empty() {
        return Err(
            "PLATFORM.md names no Windows call that is looked up, or none that is new; has its section been renamed?"
                .to_owned(),
        );
    }
    let listed =
        Command::new(OBJDUMP).arg("-p").arg(program).output().map_err(|error| format!("{OBJDUMP}: {error}"))?;
    let imported = imported(&String::from_utf8_lossy(&listed.stdout));
    if imported.is_empty() {
        return Err(format!("{OBJDUMP} lists no import of {}", program.display()));
    }
    let both: Vec<&str> = imported
        .iter()
        .filter(|&name| looked_up.contains(name) || newer.contains(name))
        .map(String::as_str)
        .filter(|name| !BY_STD.contains(name) && !ALWAYS_THERE.contains(name))
        .collect();
    if both.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the program imports calls that PLATFORM.md says are looked up or not on every Windows: {}",
        both.join(", ")
    ))
}

/// The calls in the first column of the laboratory's tables for Windows that are looked up.
fn looked_up(platform: &str) -> BTreeSet<String> {
    let rows = rows(platform).into_iter().filter(|(calls, _)| calls.contains("looked up"));
    rows.flat_map(|(calls, _)| names(calls)).collect()
}

/// The calls of Windows 8 and later. A note after the version ("8; the bit 11") concerns something else.
fn newer(platform: &str) -> BTreeSet<String> {
    let since = |version: &str| version.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    // 95, 98 and 2000 are older.
    let is_newer = |version: &str| since(version).is_some_and(|since| (8..=20).contains(&since));
    let rows = rows(platform).into_iter().filter(|(_, version)| is_newer(version));
    rows.flat_map(|(calls, _)| names(calls)).collect()
}

/// The rows of the laboratory's tables for Windows: the first column, and the third, which is the version.
fn rows(platform: &str) -> Vec<(&str, &str)> {
    let windows = platform.split_once("\n## The laboratory on Windows").map_or("", |(_, after)| after);
    let windows = windows.split_once("\n## ").map_or(windows, |(section, _)| section);
    let rows = windows.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|line| {
        let mut columns = line.trim_start_matches("| ").split(" | ");
        Some((columns.next()?, columns.nth(1)?))
    })
    .collect()
}

/// The words in backquotes.
fn names(calls: &str) -> Vec<String> {
    calls.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names of `objdump -p`'s import tables: address, hint or number, name.
fn imported(listing: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let mut words = line.strip_prefix('\t')?.split_whitespace();
        let is_entry = u64::from_str_radix(words.next()?, 16).is_ok() && words.next()?.parse::<u32>().is_ok();
        let name = words.next()?;
        (is_entry && words.next().is_none()).then(|| name.to_owned())
    };
    listing.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_is_looked_up() {
        let platform = "\
## The laboratory on Linux
| `prctl` (looked up) | x |

## The laboratory on Windows

A call that is looked up is a reason where it is missing.

| call | what for | since | page |
|---|---|---|---|
| `WaitOnAddress`, `WakeByAddressSingle` (looked up) | `wait-on-address` | 8 | p |
| `Sleep` | `sleep`, looked up | XP | p |
| `GetProcessInformation` | why | 8; the bit 11 | p |
| `SetWaitableTimerEx` | why | 7; a flag 10 | p |
| `timeGetTime` | why | 95; the same | p |

## The command
| `x` (looked up) | y |
";
        let names: Vec<String> = looked_up(platform).into_iter().collect();
        assert_eq!(names, ["WaitOnAddress", "WakeByAddressSingle"]);
        let names: Vec<String> = newer(platform).into_iter().collect();
        assert_eq!(names, ["GetProcessInformation", "WaitOnAddress", "WakeByAddressSingle"]);
    }

    #[test]
    fn a_listing_names_the_imports() {
        let listing = "\tDLL Name: kernel32.dll\n\tvma:  Hint/Ord Member-Name Bound-To\n\tbeb358\t    1  CloseHandle\n\
                       \tbeb372\t   38  SetProcessInformation\n\n 00bea03c\t00bea190 00000000 00000000 00bec68c 00beaa68\n";
        let names: Vec<String> = imported(listing).into_iter().collect();
        assert_eq!(names, ["CloseHandle", "SetProcessInformation"]);
    }
}
