//! The calls that the Windows command imports. A call that `xtask/platform/windows/` describes as looked up or new must
//! not be imported, or the program can't start on systems without that call.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use xtask_tools::platform::{self, Table};

/// Lists what a program imports.
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";

/// Rust's standard library imports these for this target; its target for Windows 7 (`x86_64-win7-windows-gnu`) doesn't.
const BY_STD: &[&str] = &["GetSystemTimePreciseAsFileTime", "WaitOnAddress", "WakeByAddressSingle"];
/// Looked up although every Windows since 2000 has it, because it is undocumented. The library imports it.
const ALWAYS_THERE: &[&str] = &["NtSetTimerResolution"];

/// Checks that a program imports nothing that is looked up.
pub fn check(root: &Path, program: &Path) -> Result<(), String> {
    let tables = platform::of_page(root, "windows")?;
    let not_everywhere = not_everywhere(&tables);
    if not_everywhere.is_empty() {
        return Err("xtask/platform/windows/ names no call that is looked up or new; has it been renamed?".to_owned());
    }
    let listed =
        Command::new(OBJDUMP).arg("-p").arg(program).output().map_err(|error| format!("{OBJDUMP}: {error}"))?;
    let imported = imported(&String::from_utf8_lossy(&listed.stdout));
    if imported.is_empty() {
        return Err(format!("{OBJDUMP} lists no import of {}", program.display()));
    }
    let both: Vec<&str> = imported
        .iter()
        .map(String::as_str)
        .filter(|name| not_everywhere.contains(name))
        .filter(|name| !BY_STD.contains(name) && !ALWAYS_THERE.contains(name))
        .collect();
    if both.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the program imports calls that xtask/platform/windows/ says are looked up or not on every Windows: {}",
        both.join(", ")
    ))
}

/// The laboratory's calls that are looked up, and those of Windows 8 and later.
fn not_everywhere(tables: &[Table]) -> BTreeSet<&str> {
    let rows = tables.iter().filter(|table| table.name.starts_with("windows/")).flat_map(|table| &table.rows);
    rows.filter(|row| row.looked_up || is_newer(&row.since)).flat_map(|row| row.calls()).collect()
}

/// Whether the first version is 8 or later. A note after it ("7; a flag 10") concerns something else; 95 and 2000 are older.
fn is_newer(since: &str) -> bool {
    let first = since.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse::<u32>().ok());
    first.is_some_and(|version| (8..=20).contains(&version))
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
    fn calls_that_some_windows_lacks_are_known() {
        let row = |name: &str, rest: &str| {
            format!("[[call]]\nnames = [\"{name}\"]\nwhy = \"y\"\npages = [\"https://a.b\"]\n{rest}\n")
        };
        let rows = [
            row("WaitOnAddress", "since = \"8\""),
            row("NtDelayExecution", "since = \"XP\"\nlooked_up = true"),
            row("Sleep", "since = \"XP\""),
            row("GetProcessInformation", "since = \"8; the bit 11\""),
            row("SetWaitableTimerEx", "since = \"7; a flag 10\""),
            row("timeGetTime", "since = \"95; the same\""),
        ];
        let text = format!("versions = \"Windows\"\n{}", rows.concat());
        let files = [
            ("xtask/platform/windows/a.toml", text.as_str()),
            ("xtask/platform/library/a.toml", &text.replace("Wait", "No")),
        ];
        let (tables, _) = platform::read(files.into_iter());
        let names: Vec<&str> = not_everywhere(&tables).into_iter().collect();
        assert_eq!(names, ["GetProcessInformation", "NtDelayExecution", "WaitOnAddress"]);
    }

    #[test]
    fn a_listing_names_the_imports() {
        let listing = "\tDLL Name: kernel32.dll\n\tvma:  Hint/Ord Member-Name Bound-To\n\tbeb358\t    1  CloseHandle\n\
                       \tbeb372\t   38  SetProcessInformation\n\n 00bea03c\t00bea190 00000000 00000000 00bec68c 00beaa68\n";
        let names: Vec<String> = imported(listing).into_iter().collect();
        assert_eq!(names, ["CloseHandle", "SetProcessInformation"]);
    }
}
