//! Files that are not results, or damaged ones.

use serde_json::Value;

use super::Material;
use crate::faults::row::{Case, Expect, Need, Row};

const KIND: &str = "files";
/// Commands that read a result from `x`.
const READERS: &[&str] =
    &["report x", "report x --full", "compare x x", "waits --like x --count 1", "report - <x", "share x --out -"];

pub fn rows(material: &Material) -> Vec<Row> {
    let text = String::from_utf8_lossy(&material.result).into_owned();
    let half = &material.result[..material.result.len() / 2];
    let nested = |open: &str, close: &str| [open.repeat(100_000), close.repeat(100_000)].concat();
    let classes: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("text", b"hello\n".to_vec()),
        ("zeros", vec![0; 100_000]),
        ("bytes of every value", (0..=255).cycle().take(10_000).collect()),
        ("half a result", half.to_vec()),
        ("a result without its last bracket", material.result[..text.trim_end().len().saturating_sub(1)].to_vec()),
        ("two results", [text.as_bytes(), text.as_bytes()].concat()),
        ("nested lists", nested("[", "]").into_bytes()),
        ("nested objects", nested("{\"a\":", "}").into_bytes()),
        ("a list", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("an object without fields", b"{}".to_vec()),
        ("another schema", text.replacen("oversleep-result/", "oversleep-result/9", 1).into_bytes()),
        ("UTF-16", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("a text of ten million letters", format!("\"{}\"", "x".repeat(10_000_000)).into_bytes()),
        ("a figure beyond all bounds", text.replacen(":1", ":1e999", 1).into_bytes()),
        ("NaN", text.replacen(":0", ":NaN", 1).into_bytes()),
        ("broken UTF-8", [text.as_bytes(), b"\xff\xfe"].concat()),
    ];
    let readers = |bytes: &[u8]| {
        READERS.iter().map(|reader| Case::script(format!("exec \"$O\" {reader}")).given("x", bytes)).collect::<Vec<_>>()
    };
    let refused = || Expect::codes(&[1, 2]).says(&["error: can't use", "error: can't model"]);
    let mut rows: Vec<Row> =
        classes.iter().map(|(name, bytes)| Row::new(KIND, *name, refused(), readers(bytes))).collect();
    rows.extend(no_files());
    rows.extend(damaged(material));
    rows
}

/// Things that are not regular files.
fn no_files() -> Vec<Row> {
    let row = |name: &str, make: &str| {
        let cases = READERS.iter().map(|reader| Case::script(format!("{make}; exec \"$O\" {reader}"))).collect();
        let expect = Expect::codes(&[1, 2]).says(&["error: can't", "cannot open", "No such file", "x: "]);
        Row::new(KIND, name, expect, cases)
    };
    let mut rows = vec![
        row("no file", "true"),
        row("a directory", "mkdir x"),
        row("a link that leads nowhere", "ln -s no x"),
        row("a link that leads round", "ln -s x x"),
        row("an empty pipe", "mkfifo x; : >x & true"),
    ];
    let readers = [
        "report",
        "compare old.json",
        "export --to csv=-",
        "share --out s.json",
        "why",
        "assert 'nanosleep(1ms).p50 < 1ms'",
        "assert old.json --file",
        "archive add a",
    ];
    let endless =
        readers.map(|reader| Case::script(format!("ulimit -v 4000000; exec timeout 60 \"$O\" {reader} /dev/zero")));
    let expect = Expect::codes(&[1, 2]).says(&["error: "]);
    rows.push(Row::new(KIND, "a device without an end", expect, endless.into()).needing(&[Need::Device("/dev/zero")]));
    rows
}

/// A result in which one value is replaced by another kind of value. Some of these are still valid.
fn damaged(material: &Material) -> Vec<Row> {
    let Ok(result) = serde_json::from_slice::<Value>(&material.result) else { return Vec::new() };
    let pointers = super::injection::pointers(&result, |_| true);
    let values: Vec<(&str, Value)> = vec![
        ("null", Value::Null),
        ("a text", Value::from("x")),
        ("-1", Value::from(-1)),
        ("the largest number", Value::from(u64::MAX)),
        ("the smallest number", Value::from(i64::MIN)),
        ("an empty list", Value::Array(Vec::new())),
        ("an empty object", Value::Object(serde_json::Map::new())),
    ];
    let row = |(name, value): (&str, Value)| {
        let case = |pointer: &String| {
            let mut damaged = result.clone();
            if let Some(place) = damaged.pointer_mut(pointer) {
                *place = value.clone();
            }
            Case::script("\"$O\" report x; a=$?; \"$O\" compare x x; b=$?; test $a -gt $b && exit $a; exit $b")
                .given("x", damaged.to_string())
        };
        let cases = pointers.iter().map(case).collect();
        Row::new(KIND, format!("a value replaced by {name}"), Expect::codes(&[0, 1, 4]), cases).sampling(2)
    };
    values.into_iter().map(row).collect()
}
