//! `archive views`: the statements that make the tables of an archive on another engine.

use std::path::{MAIN_SEPARATOR, PathBuf};

use clap::Args;
use oversleep_archive::views::{Engine, script};

use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::stdout;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive views duckdb", "for an archive in the folder fleet"),
    ("oversleep archive views spark --dir /data/fleet", "for another one"),
];

/// Print the views that make an archive's files two tables on another engine, and a query that all of them answer alike
///
/// The comments at its head say where to paste it. Reads no file.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Views {
    /// The engine
    #[arg(value_name = "ENGINE", value_parser = Engine::ALL.map(Engine::name))]
    engine: String,

    /// Folder of the archive, as the engine sees it
    #[arg(long, value_name = "DIR", default_value = "fleet")]
    dir: PathBuf,
}

impl Views {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let engine = Engine::ALL.into_iter().find(|engine| engine.name() == self.engine);
        let engine = engine.ok_or_else(|| Failure::usage(format!("unknown engine '{}'", self.engine)))?;
        // A server is somewhere else, and takes whole paths only.
        let given = self.dir.display().to_string();
        let dir = match std::path::absolute(&self.dir) {
            Ok(whole) if engine == Engine::Trino && !given.starts_with('/') => {
                format!("/{}", whole.display().to_string().replace(MAIN_SEPARATOR, "/").trim_start_matches('/'))
            }
            _ => given,
        };
        stdout::text(&script(engine, &dir))?;
        Ok(Exit::Fine)
    }
}
