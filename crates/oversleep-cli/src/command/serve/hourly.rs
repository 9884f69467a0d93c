//! A result file for each hour.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use oversleep_lab::live::Live;
use oversleep_record::ResultFile;
use oversleep_record::date::Utc;

use crate::exit::Failure;
use crate::message;
use crate::output::file::{self, Files};

/// The most files that are kept: two days of them.
const FILES_MAX: usize = 48;
/// What their names begin with.
const PREFIX: &str = "oversleep-hour-";
const HOUR_S: u64 = 3_600;

/// A directory with a file for each hour of the wall clock. A file is complete when it has its name, and never changed.
pub struct Hourly {
    directory: PathBuf,
    hour: u64,
}

/// Since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

impl Hourly {
    /// One that begins now.
    ///
    /// # Errors
    /// No file can be written there.
    pub fn of(directory: &Path) -> Result<Hourly, Failure> {
        file::check_in(directory).map_err(Failure::failed)?;
        fs::create_dir_all(directory).map_err(|error| Failure::failed(file::why_not(directory, &error)))?;
        Ok(Hourly { directory: directory.to_owned(), hour: now().as_secs() / HOUR_S })
    }

    /// How long this hour still lasts.
    pub fn left(&self) -> Duration {
        Duration::from_secs((self.hour + 1) * HOUR_S).saturating_sub(now())
    }

    /// Writes what was sampled since the last file, if the hour or all is over. A failure is said, and the hour is lost.
    pub fn look(&mut self, lives: &[Arc<Live>], is_over: bool) {
        let hour = now().as_secs() / HOUR_S;
        if hour == self.hour && !is_over {
            return;
        }
        self.hour = hour;
        let Some(part) = Live::part_of(lives.iter().map(AsRef::as_ref), is_over) else { return };
        if let Err(why) = self.write(&part) {
            message::warning(&why);
        }
    }

    fn write(&self, part: &ResultFile) -> Result<(), String> {
        let taken = part.taken_unix_s.and_then(Utc::of_unix);
        let stem = format!("{PREFIX}{}", taken.map_or_else(|| "undated".to_owned(), Utc::for_file_name));
        // Another process may write there, too, and begin in the same second.
        let written = Files::default().create(&self.directory, &stem, "json", &|out| part.write_to(out));
        written.map_err(|error| file::why_not(&self.directory, &error))?;
        for old in outdated(names(&self.directory)) {
            let _ = fs::remove_file(self.directory.join(old));
        }
        Ok(())
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The oldest of the hourly files, of which too many are there. Their names sort by time.
fn outdated(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| name.starts_with(PREFIX) && name.ends_with(".json"));
    names.sort();
    names.truncate(names.len().saturating_sub(FILES_MAX));
    names
}

#[cfg(test)]
mod tests {
    use oversleep_measure::StopFlag;

    use super::*;

    #[test]
    fn no_file_takes_the_place_of_another_one_of_the_same_second() {
        let directory = tempfile::tempdir().expect("writable");
        let lab = oversleep_lab::machines::load("linux-server-intel", &[], 1).expect("it is known");
        let sampling = oversleep_sampler::Sampling::of("nanosleep");
        let live = lab.live(sampling, None, oversleep_record::CommandName::Serve, None, &StopFlag::new());
        let part = ResultFile { taken_unix_s: Some(1_764_385_200), ..live.expect("it has a clock").result() };
        let hourly = Hourly::of(directory.path()).expect("writable");
        (0..2).for_each(|_| hourly.write(&part).expect("writable"));
        let mut all = names(directory.path());
        all.sort();
        assert_eq!(all, ["oversleep-hour-2025-11-29T03-00-00Z-2.json", "oversleep-hour-2025-11-29T03-00-00Z.json"]);
    }

    #[test]
    fn the_files_of_two_days_are_kept_and_no_other_file_is_touched() {
        let hours = (0..50).map(|hour| format!("{PREFIX}20261129T{hour:02}0000Z.json"));
        let all: Vec<String> =
            hours.chain(["oversleep-20200101T000000Z.json".to_owned(), "notes".to_owned()]).collect();
        assert_eq!(outdated(all.clone()), all[..2]);
        assert!(outdated(all[2..].to_vec()).is_empty());
    }
}
