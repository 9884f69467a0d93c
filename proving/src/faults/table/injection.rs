//! Text that tries to control the terminal, from every possible source of text.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Material;
use crate::faults::row::{Case, Expect, Row};

const KIND: &str = "injection";
/// A title, a cleared screen, a colour, a line that looks like a message, and a change of writing direction.
const HOSTILE: &str = "x\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\nerror: all is well\u{202e}y";
/// That text for a shell's `printf`.
const PRINTED: &str = r"x\033]0;t\007\033[2J\302\23331m\r\nerror: all is well\342\200\256y";
/// Command lines with the text in place of `?`.
const TYPED: &[&str] = &[
    "\"?\"",
    "waits \"?\"",
    "waits \"--?\"",
    "waits --request \"?\"",
    "waits --count \"?\"",
    "waits --for \"?\"",
    "waits --slack \"?\"",
    "waits --pin \"?\"",
    "waits --policy \"?\"",
    "waits --load \"?\"",
    "waits --tune \"?=?\"",
    "waits --tune \"slack=?\"",
    "waits --clock \"?\"",
    "waits --pace \"?\"",
    "waits --name \"?\"",
    "waits --on \"?\"",
    "waits --on windows-11 --set \"?=?\"",
    "waits --on windows-11 --set \"tick=?\"",
    "waits --like \"?\"",
    "waits --like \"no/?\"",
    "waits --out \"no/?\"",
    "waits --json=\"no/?\"",
    "waits --html \"no/?\"",
    "waits --svg \"/dev/null/?\"",
    "clocks \"?\"",
    "handoff \"?\"",
    "check --only \"?\"",
    "ask \"?\"",
    "ask \"?(1ms)\"",
    "ask \"sleep(?)\"",
    "ask \"resolution()\" --on \"?\"",
    "explain \"?\"",
    "experiments \"?\"",
    "machines \"?\"",
    "report \"?\"",
    "report \"no/?\"",
    "report old.json --html \"no/?\"",
    "compare \"?\" \"?\"",
    "compare old.json old.json --html=\"./?\" --json=\"?\"",
    "share \"?\"",
    "share old.json --out \"no/?\"",
    "resolution watch --neighbour \"?\"",
    "resolution watch --for \"?\"",
    "resolution hold \"?\"",
    "resolution hold 1ms -- \"no/?\"",
    "resolution sweep --settings \"?\"",
    "completions \"?\"",
    "man --out \"old.json/?\"",
    "--color \"?\"",
];

pub fn rows(material: &Material) -> Vec<Row> {
    let set = format!("h=$(printf '{PRINTED}'); ");
    let typed = |line: &&str| {
        let script = format!("{set}exec \"$O\" {}", line.replace('?', "$h"));
        Case::script(script).given("old.json", material.result.clone())
    };
    let names =
        ["report \"$h\"", "compare \"$h\" \"$h\"", "waits thread-sleep --count 1 --request 1ms --out \"$h.json\""];
    let named = |line: &str| Case::script(format!("{set}exec \"$O\" {line}")).given(HOSTILE, material.result.clone());
    let own_name = ["--help", "--version", "waits --no", "no"]
        .map(|line| Case::script(format!("{set}ln -s \"$O\" \"$h\"; exec ./\"$h\" {line}")));
    vec![
        Row::new(KIND, "arguments", Expect::codes(&[1, 2, 127]).says(&["error: "]), TYPED.iter().map(typed).collect())
            .sampling(8),
        long(material),
        Row::new(KIND, "names of files", Expect::codes(&[0, 4]), names.map(named).to_vec()).sampling(3),
        Row::new(KIND, "the name of the program", Expect::codes(&[0, 2]), own_name.to_vec()),
        fields(material),
    ]
}

/// Arguments and fields of such a length that a message with all of them would hide its point.
fn long(material: &Material) -> Row {
    // Longer names are invalid, which another row covers.
    let typed = |line: &&str| {
        let script = format!("h=$(printf %20000s | tr ' ' x); exec \"$O\" {}", line.replace('?', "$h"));
        Case::script(script).given("old.json", material.result.clone())
    };
    let result = String::from_utf8_lossy(&material.result).replacen(
        "\"lateness\"",
        &format!("\"{}\"", "x".repeat(2_000_000)),
        1,
    );
    let field = Case::script("exec \"$O\" report x").given("x", result);
    let cases = TYPED.iter().filter(|line| !line.contains("--name")).map(typed).chain([field]).collect();
    Row::new(KIND, "arguments and fields that are very long", Expect::codes(&[1, 2, 126]).says(&["error: "]), cases)
        .sampling(4)
}

/// Every text of a result, one at a time.
fn fields(material: &Material) -> Row {
    let result: Value = serde_json::from_slice(&material.result).unwrap_or_default();
    let case = |pointer: &String| {
        let mut hostile = result.clone();
        if let Some(place) = hostile.pointer_mut(pointer) {
            *place = Value::from(HOSTILE);
        }
        let script = "for c in 'report x' 'report x --full' 'report x --json' 'compare x x' 'compare x x --json' \
             'ask sleep(1ms) --on windows-11' 'waits --like x --count 1 --request 1ms --json'; do \"$O\" $c; done; true";
        Case::script(script).given("x", hostile.to_string())
    };
    let cases = pointers(&result, Value::is_string).iter().map(case).collect();
    Row::new(KIND, "every text of a result", Expect::codes(&[0]), cases).sampling(4)
}

/// The places of the values of that kind. Of those in lists, one represents all with the same name.
pub fn pointers(value: &Value, is_wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let mut found = BTreeMap::new();
    collect(value, String::new(), String::new(), &is_wanted, &mut found);
    found.into_values().collect()
}

fn collect(
    value: &Value,
    pointer: String,
    name: String,
    is_wanted: &impl Fn(&Value) -> bool,
    found: &mut BTreeMap<String, String>,
) {
    if is_wanted(value) && !name.is_empty() {
        found.entry(name.clone()).or_insert_with(|| pointer.clone());
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{pointer}/{index}"), format!("{name}/-"), is_wanted, found);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                collect(item, format!("{pointer}/{escaped}"), format!("{name}/{key}"), is_wanted, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_once() {
        let value = serde_json::json!({"a": [{"b": "c"}, {"b": "d", "e/f": "g"}], "h": 1});
        assert_eq!(pointers(&value, Value::is_string), ["/a/0/b", "/a/1/e~1f"]);
        assert_eq!(value.pointer("/a/1/e~1f"), Some(&Value::from("g")));
    }
}
