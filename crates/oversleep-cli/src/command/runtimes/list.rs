//! `runtimes --list`: what is here, what is not, and what would be measured.

use oversleep_lab::Laboratory;
use oversleep_report::document::Listing;
use oversleep_runtimes::{Installation, Missing, Op, Program, Survey, Wanted};
use serde_json::{Value, json};

use crate::args::OutputArgs;
use crate::exit::{Exit, Failure};
use crate::output::show;

/// Prints it, as text or as JSON.
pub fn list(wanted: &Wanted, mut survey: Survey, lab: &Laboratory, output: &OutputArgs) -> Result<Exit, Failure> {
    let programs = wanted.ask_programs(&mut survey);
    if let Some(error) = wanted.unknown(&programs, &survey) {
        return Err(Failure::usage(error.to_string()));
    }
    let os = lab.platform_id().os;
    let of = |ops: &[Op]| -> Vec<String> {
        ops.iter().filter(|op| op.is_on(&os) && wanted.means(op)).map(|op| op.name.clone()).collect()
    };
    let found = survey
        .found
        .iter()
        .map(|one| (found_text(one, &of(&one.descriptor.op)), found_document(one, &of(&one.descriptor.op))));
    let programs = programs.iter().map(|one| (program_text(one, &of(&one.ops)), program_document(one, &of(&one.ops))));
    let missing = survey
        .missing
        .iter()
        .map(|one| (format!("{}  not available: {}\n", one.name, one.reason), missing_document(one)));
    let (text, data): (String, Vec<Value>) = found.chain(programs).chain(missing).unzip();
    let list = Listing {
        title: "runtimes".to_owned(),
        text: Box::new(move |_| text.clone()),
        data: Value::Array(data),
        rows: oversleep_report::listing::Rows::In(""),
        columns: &["name", "title", "available", "reason", "program", "only_if_named", "operations"],
    };
    show(output, &list)
}

fn found_text(one: &Installation, ops: &[String]) -> String {
    let only_if_named = if one.descriptor.only_if_named { " (only where you name it)" } else { "" };
    format!("{}  {}  {}{only_if_named}\n    {}\n", one.id, one.title(), one.exe.display(), ops.join(", "))
}

fn program_text(one: &Program, ops: &[String]) -> String {
    format!("{}  {}  {}\n    {}\n", one.launch.id, one.launch.runtime, one.launch.words[0], ops.join(", "))
}

fn found_document(one: &Installation, ops: &[String]) -> Value {
    json!({
        "name": one.id,
        "title": one.title(),
        "available": true,
        "program": one.exe,
        "only_if_named": one.descriptor.only_if_named,
        "operations": ops,
    })
}

fn program_document(one: &Program, ops: &[String]) -> Value {
    json!({
        "name": one.launch.id,
        "title": one.launch.runtime.to_string(),
        "available": true,
        "program": one.launch.words[0],
        "only_if_named": true,
        "operations": ops,
    })
}

fn missing_document(one: &Missing) -> Value {
    json!({ "name": one.name, "available": false, "reason": one.reason })
}
