//! Killed at any moment of adding and compacting, an archive has lost no row that was reported as added, and has none twice.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use oversleep_archive::store::Archive;

use crate::support::{TAKEN_US, add, all, row, values};

const FOLDER: &str = "OVERSLEEP_ARCHIVE_KILLED";
/// How many times it is killed; CI kills it 200 times.
const KILLS: &str = "OVERSLEEP_ARCHIVE_KILLS";
const DAY_US: i64 = 86_400_000_000;

/// Adds results of three days one after the other, says which are added, and compacts after every third.
#[test]
#[ignore = "the next test starts it and kills it"]
fn adds_and_compacts_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let next = all_or_none(&folder).len() as i64;
    for number in next.. {
        let mut row = row(number, &values(0..20));
        row.taken_us = TAKEN_US + number % 3 * DAY_US;
        add(&folder, [row]);
        println!("\nadded {number}");
        if number % 3 == 2 {
            Archive::open(&folder).unwrap().compact().unwrap();
        }
    }
}

fn all_or_none(folder: &Path) -> Vec<oversleep_archive::Row> {
    if Archive::open(folder).is_ok() { all(folder) } else { Vec::new() }
}

#[test]
fn nothing_is_lost_and_nothing_is_there_twice_however_often_it_is_killed() {
    let kills: u64 = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(12);
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("fleet");
    let mut reported = -1_i64;
    let mut leftovers = 0;
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::adds_and_compacts_until_it_is_killed", "--ignored", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut read = |reported: &mut i64| {
            let line = lines.next()?.ok()?;
            *reported = line.strip_prefix("added ").and_then(|number| number.parse().ok()).unwrap_or(*reported);
            Some(line.starts_with("added"))
        };
        // Wherever it is then: the moments differ by parts of what an addition takes.
        while read(&mut reported) == Some(false) {}
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        while read(&mut reported).is_some() {}
        let before = all(&folder);
        let numbers: Vec<i64> = before.iter().map(|row| row.content).collect();
        let expected: Vec<i64> = (0..numbers.len() as i64).collect();
        assert_eq!(numbers, expected, "kill {kill}: each row once, in the order they were added");
        assert!(numbers.len() as i64 > reported, "kill {kill}: {reported} was reported, {} are there", numbers.len());
        let report = Archive::open(&folder).unwrap().check().unwrap();
        assert_eq!(report.faults, [""; 0], "kill {kill}");
        assert_eq!(all(&folder), before, "kill {kill}: removing what was left behind removes no row");
        leftovers += report.removed;
    }
    println!("{kills} kills, {} rows, {leftovers} files left behind and removed", reported + 1);
}
