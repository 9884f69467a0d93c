//! `page`: writes the page that shows results and asks modelled machines in any browser, as one file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::args::Document;
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::{self, Files};
use crate::output::place::Places;
use crate::output::stdout;
use crate::reading;

/// The page that `cargo xtask page` builds from `oversleep-web`.
const PAGE: &str = include_str!("../../oversleep.html");
/// The place for results in it.
const PLACE: &str = r#"<script type="application/json" id="embedded">[]</script>"#;
/// The largest total size of results in a page: browsers read longer ones slowly.
const BYTES_MAX: usize = 64 << 20;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep page", "oversleep-page.html, which asks and checks models"),
    ("oversleep page a.json b.json", "it opens with the comparison of these results"),
    ("oversleep check --json | oversleep page - --html p.html", ""),
];

/// Write a page that shows results and asks modelled machines in any browser, offline
///
/// It is one file that loads nothing and sends nothing. Open it from disk or put it on any web server: drop results on it
/// to see and compare them, ask a modelled machine, or check one. It opens with the results that you name.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Page {
    /// Result files that the page opens with
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to write the page; - is standard output
    #[arg(long, value_name = "FILE", default_value = "oversleep-page.html")]
    html: PathBuf,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Page {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        message::leave_out_notes(self.quiet);
        let mut places = Places::reading(&self.files)?;
        let place = places.claim("html", &self.html)?;
        let page = with_results(&self.files)?;
        match place {
            Document::Stdout => _ = stdout::document(&|out| out.write_all(page.as_bytes()))?,
            Document::File(path) => {
                let written = Files::default().replace(&path, &|out| out.write_all(page.as_bytes()));
                written.map_err(|error| Failure::Failed(file::why_not(&path, &error)))?;
                message::written(&[format!("{}; open it in a browser", path.display())], &[]);
            }
        }
        Ok(Exit::Fine)
    }
}

fn with_results(files: &[PathBuf]) -> Result<String, Failure> {
    if files.is_empty() {
        return Ok(PAGE.to_owned());
    }
    let (mut embedded, mut bytes) = (Vec::new(), 0);
    for path in files {
        let one = entry(path, reading::read(path, "page -")?.write())?;
        bytes += one["text"].as_str().map_or(0, str::len);
        if bytes > BYTES_MAX {
            return Err(Failure::failed(format!(
                "'{}' makes the page too large: results in a page may have {} MB together; write the page without it, \
                 and drop the file on the page",
                path.display(),
                BYTES_MAX >> 20
            )));
        }
        embedded.push(one);
    }
    // A script element ends at its closing tag, even within a string.
    let text = Value::from(embedded).to_string().replace('<', "\\u003c");
    Ok(PAGE.replacen(PLACE, &PLACE.replace("[]", &text), 1))
}

fn entry(path: &Path, result: Vec<u8>) -> Result<Value, Failure> {
    let name = path.file_name().map_or_else(|| "result.json".to_owned(), |name| name.to_string_lossy().into_owned());
    let name = if name == "-" { "result.json".to_owned() } else { name };
    let text = String::from_utf8(result).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(json!({ "name": name, "text": text }))
}

#[cfg(test)]
mod tests {
    use oversleep_record::ResultFile;
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn the_page_has_one_place_for_results() {
        assert_eq!(PAGE.matches(PLACE).count(), 1, "run `cargo xtask page`");
    }

    #[test]
    fn a_result_can_not_end_the_element_that_it_is_in() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("script.json");
        let file = ResultFile { name: Some("</script><b>".to_owned()), ..Sheet::linux().file };
        std::fs::write(&path, file.write()).unwrap();
        let page = with_results(&[path]).unwrap();
        assert_eq!(page.matches("</script").count(), PAGE.matches("</script").count());
        assert!(page.contains("\\u003c/script>"));
    }
}
