//! `run --measure`: runs the program under `oversleep why` without and with the settings, and compares the two results.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use oversleep_native::AppEnd;

use crate::exit::{Exit, Failure};
use crate::message;

/// The exit codes of a run that the user ended: 128 + SIGINT, which `why` has for every signal to itself, and 128 + SIGTERM.
const BY_SIGNAL: [i32; 2] = [130, 143];

/// Two runs, whose results are kept until they are compared.
pub struct Runs {
    folder: PathBuf,
}

impl Runs {
    /// Creates the folder for the results.
    pub fn new() -> Result<Runs, Failure> {
        // An existing folder may belong to someone else.
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("oversleep-run-{}-{}", std::process::id(), since.as_nanos());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)
            .map_err(|error| Failure::failed(format!("can't make the folder '{}': {error}", folder.display())))?;
        Ok(Runs { folder })
    }

    /// Runs the program without the settings. Returns whether a signal ended that, so that there is nothing to compare.
    pub fn before(&self, program: &[OsString]) -> Result<bool, Failure> {
        message::note("the first run is without the settings");
        let (ended, is_signalled) = self.one("before.json", program, false)?;
        Ok(is_signalled || BY_SIGNAL.contains(&ended.code()))
    }

    /// Runs the program with the settings that the calling thread holds.
    pub fn after(&self, program: &[OsString], locks_memory: bool) -> Result<Exit, Failure> {
        message::note("the second run is with the settings");
        self.one("after.json", program, locks_memory).map(|(end, _)| Exit::Program(end))
    }

    fn one(&self, name: &str, program: &[OsString], locks_memory: bool) -> Result<(AppEnd, bool), Failure> {
        let mut command = Vec::new();
        if locks_memory {
            command.extend([
                own_program()?.into(),
                "run".into(),
                "--quiet".into(),
                "--lock-memory".into(),
                "--".into(),
            ]);
        }
        command.extend(program.iter().cloned());
        self.followed(name, &[], &command).map(|(_, ended)| ended)
    }

    /// Runs the program under `oversleep why` with these options. Returns where its result is, how it ended, and whether it
    /// was sent a signal.
    pub fn followed(
        &self,
        name: &str,
        options: &[OsString],
        program: &[OsString],
    ) -> Result<(PathBuf, (AppEnd, bool)), Failure> {
        let path = self.folder.join(name);
        let own = own_program()?;
        // The report of each run would only distract from the comparison.
        let mut arguments: Vec<OsString> = ["why", "--quiet", "--no-report", "--out"].map(OsString::from).into();
        arguments.push(path.clone().into());
        arguments.extend_from_slice(options);
        arguments.push("--".into());
        arguments.extend(program.iter().cloned());
        let ended = oversleep_native::run_app_signalled(own.as_os_str(), &arguments)
            .map_err(|error| Failure::failed(format!("can't run '{}': {error}", own.display())))?;
        if !path.exists() && ended.0 == AppEnd::Code(127) {
            return Err(Failure::NotFound("nothing was compared; the reason is above".to_owned()));
        }
        if !path.exists() {
            return Err(Failure::failed(
                "that run was not measured, so there is nothing to compare; the reason is above",
            ));
        }
        Ok((path, ended))
    }

    /// Prints what changed.
    pub fn compare(&self) -> Result<(), Failure> {
        let files = ["before.json", "after.json"].map(|name| self.folder.join(name));
        let status = Command::new(own_program()?).arg("why").args(&files).status();
        match status {
            // Exit code 4: too few waits to conclude anything, which the comparison says.
            Ok(status) if matches!(status.code(), Some(0 | 4)) => Ok(()),
            Ok(status) => Err(Failure::failed(format!("the two runs could not be compared: {status}"))),
            Err(error) => Err(Failure::failed(format!("the two runs could not be compared: {error}"))),
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::failed(format!("can't find this program again: {error}")))
}
