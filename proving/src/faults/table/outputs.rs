//! An output that fails, or that is the same file as another one.

use super::Material;
use crate::faults::row::{Case, Expect, Need, Row, Where};

const KIND: &str = "outputs";
const SHORT: &str = "waits thread-sleep --request 1ms --count 3";

/// Destinations that are refused before anything is measured: description, setup, path.
const REFUSED: &[(&str, &str, &str)] = &[
    ("in a directory that doesn't exist", "", "no/x"),
    ("a directory", "mkdir d", "d"),
    ("below a file", "echo x >f", "f/x"),
    ("with a name that is too long", "n=$(printf %300s | tr ' ' x)", "$n"),
    ("with an empty name", "", "''"),
    ("in /proc", "", "/proc/x"),
    ("a link that leads round", "ln -s l l", "l"),
    ("with the name of a directory", "", "a/"),
    ("a link to a name of a directory", "ln -s d/ l", "l"),
    (
        "a socket",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")' || exit 2",
        "s; r=$?; rm s; exit $r",
    ),
];
/// Two names of one file: setup, and both names.
const SAME: &[(&str, &str, &str, &str)] = &[
    ("the same name", "", "a", "a"),
    ("./", "", "a", "./a"),
    ("an absolute path", "", "a", "\"$PWD/a\""),
    ("a directory and back", "mkdir d", "a", "d/../a"),
    ("a symbolic link", "echo x >a; ln -s a b", "a", "b"),
    ("a symbolic link to no file yet", "ln -s a b", "a", "b"),
    ("two symbolic links to no file yet", "ln -s a b; ln -s \"$PWD/a\" c", "b", "c"),
    ("a symbolic link to a symbolic link to no file yet", "ln -s a b; ln -s b c", "a", "c"),
    ("a hard link", "echo x >a; ln a b", "a", "b"),
    ("a linked directory", "mkdir d; ln -s d e", "d/a", "e/a"),
    ("a named pipe", "mkfifo p", "p", "./p"),
    ("standard output", "", "-", "/dev/stdout"),
    ("standard output by its number", "", "/dev/stdout", "/dev/fd/1"),
];

pub fn rows(material: &Material) -> Vec<Row> {
    let mut rows = refused();
    rows.extend(same(material));
    rows.extend(full());
    rows.extend(standard_output(material));
    rows.extend(fine());
    rows
}

fn refused() -> Vec<Row> {
    let row = |(name, make, path): &(&str, &str, &str)| {
        let case = |option: &str| {
            // If the destination were checked last, an hour of measuring would come first.
            Case::script(format!("{}exec \"$O\" waits thread-sleep --for 1h {option}={path}", before(make)))
        };
        let expect = Expect::codes(&[1, 2]).result(Where::Nowhere).says(&["error: can't write", "error: a value is"]);
        Row::new(KIND, format!("a file {name}"), expect, ["--out", "--json", "--html"].map(case).to_vec())
    };
    REFUSED.iter().map(row).collect()
}

fn before(make: &str) -> String {
    if make.is_empty() { String::new() } else { format!("{make}; ") }
}

fn same(material: &Material) -> Vec<Row> {
    let row = |(name, make, one, other): &(&str, &str, &str, &str)| {
        let make = before(make);
        let cases = [
            format!("{make}exec \"$O\" waits thread-sleep --for 1h --json={one} --html={other}"),
            format!("{make}exec \"$O\" waits thread-sleep --for 1h --html={one} --out={other}"),
            format!("{make}exec \"$O\" report old.json --json={one} --html={other}"),
            format!("{make}exec \"$O\" compare old.json old.json --json={one} --html={other}"),
        ];
        let given = |script: String| Case::script(script).given("old.json", material.result.clone());
        Row::new(KIND, format!("two outputs are one file: {name}"), Expect::codes(&[2]), cases.map(given).to_vec())
    };
    let mut rows: Vec<Row> = SAME.iter().map(row).collect();
    let mut cases = Vec::new();
    for other in ["./old.json", "\"$PWD/old.json\"", "s.json", "h.json"] {
        let make = "ln -s old.json s.json; ln old.json h.json; ";
        for script in [
            format!("exec \"$O\" report old.json --html {other}"),
            format!("exec \"$O\" report {other} --json=old.json"),
            format!("exec \"$O\" report - --html {other} <old.json"),
            format!("exec \"$O\" compare old.json old.json --html={other}"),
            format!("exec \"$O\" waits --like old.json --out {other}"),
            format!("mkdir p; ln -s ../old.json p/percentiles.svg; exec \"$O\" report {other} --svg p"),
            format!("mkdir p; ln old.json p/a.svg; \"$O\" report - --svg p <{other}; r=$?; rm -r p; exit $r"),
            format!(
                "mkdir p; ln {other} p/b.svg; ln old.json p/a.svg; \"$O\" report p/a.svg --svg p; r=$?; rm -r p; exit $r"
            ),
            format!("exec \"$O\" report old.json >>{other}"),
            format!("exec \"$O\" report {other} --json >>old.json"),
            format!("exec \"$O\" report {other} --html - >>old.json"),
            format!("exec \"$O\" compare old.json old.json >>{other}"),
            format!("exec \"$O\" report . >>{other}"),
            format!("exec \"$O\" ask 'sleep(1ms)' --like old.json >>{other}"),
            format!("exec \"$O\" share {other} >>old.json"),
            format!("exec \"$O\" waits --like old.json --count 1 --request 1ms >>{other}"),
        ] {
            cases.push(Case::script(format!("{make}{script}")).given("old.json", material.result.clone()));
        }
    }
    rows.push(Row::new(KIND, "an output is the result that is read", Expect::codes(&[2]), cases).sampling(3));
    let pictures = ["p/percentiles.svg", "p/new.svg", "./p/../p/percentiles.svg"];
    let case = |page| Case::script(format!("mkdir p; exec \"$O\" waits thread-sleep --for 1h --svg p --html {page}"));
    rows.push(Row::new(KIND, "a page is among the pictures", Expect::codes(&[2]), pictures.map(case).to_vec()));
    rows
}

fn full() -> Vec<Row> {
    let devices = [
        "--out /dev/full",
        "--json /dev/full",
        "--html /dev/full",
        "--json - >/dev/full",
        "--html - >/dev/full",
        ">/dev/full",
    ];
    let cases = devices.map(|output| Case::script(format!("exec \"$O\" {SHORT} {output}"))).to_vec();
    let expect = Expect::codes(&[1]).result(Where::Temporary).says(&["error: can't write"]);
    let full = Row::new(KIND, "a full device", expect, cases).needing(&[Need::Device("/dev/full")]).sampling(2);
    let mounted = |options: &str, script: &str| {
        let inner = format!("mkdir d && mount -t tmpfs {options} tmpfs d && {script}");
        Case::script(format!("exec unshare -m sh -c '{inner}'"))
    };
    let small = |output: &str| mounted("-o size=4k", &format!("exec \"$O\" {SHORT} {output}"));
    let expect = Expect::codes(&[1]).result(Where::Temporary).says(&["error: can't write"]);
    let cases = ["--out d/r.json", "--json d/r.json", "--html d/r.html", "--svg d/p"].map(small).to_vec();
    let disk = Row::new(KIND, "a full disk", expect, cases).needing(&[Need::Mounts]);
    let read_only = mounted("-o ro", "exec \"$O\" waits thread-sleep --for 1h --out d/r.json");
    let expect = Expect::codes(&[1]).result(Where::Nowhere).says(&["choose a place you may write to"]);
    let read_only = Row::new(KIND, "a disk that is read-only", expect, vec![read_only]).needing(&[Need::Mounts]);
    let last = format!("TMPDIR=/dev/null/no exec \"$O\" {SHORT} --out /dev/full");
    let expect = Expect::codes(&[1]).result(Where::Stdout).says(&["the last line on standard output"]);
    let nowhere =
        Row::new(KIND, "a full device, and no directory for temporary files", expect, vec![Case::script(last)])
            .needing(&[Need::Device("/dev/full")]);
    // It ends soon in any case, because a file with this attribute can't be removed.
    let script = format!(
        "echo old >a.json; chattr +a a.json && {{ \"$O\" {SHORT} --out a.json; r=$?; chattr -a a.json; rm a.json; exit $r; }}"
    );
    let expect = Expect::codes(&[1]).result(Where::Nowhere).says(&["choose a place you may write to"]);
    let grows = Row::new(KIND, "a file that may only grow", expect, vec![Case::script(script)])
        .needing(&[Need::Command("chattr"), Need::Mounts]);
    vec![full, disk, read_only, nowhere, grows]
}

fn standard_output(material: &Material) -> Vec<Row> {
    let closed = [
        SHORT,
        "clocks --quick",
        "machines",
        "--help",
        "--version",
        "waits --help",
        "explain",
        "experiments",
        "doctor",
    ];
    let cases = closed.map(|command| Case::script(format!("exec \"$O\" {command} >&-"))).to_vec();
    let read_only = closed.map(|command| Case::script(format!("exec \"$O\" {command} 1</dev/null"))).to_vec();
    let json = Case::script("exec \"$O\" waits thread-sleep --for 1h --json - 1</dev/null");
    let expect = Expect::codes(&[1]).result(Where::Nowhere).says(&["standard output: it is open for reading only"]);
    let read_only =
        Row::new(KIND, "standard output is open for reading only", expect, [vec![json], read_only].concat());
    let expect = Expect::codes(&[1]).result(Where::Nowhere).says(&["standard output: it is closed"]);
    let closed = Row::new(KIND, "standard output is closed", expect, cases).sampling(2);
    let given = |script: &str| Case::script(script).given("old.json", material.result.clone());
    let cases = vec![
        given("exec \"$O\" report old.json >/dev/full"),
        given("exec \"$O\" compare old.json old.json >/dev/full"),
        given("exec \"$O\" report old.json --json >/dev/full"),
        given("exec \"$O\" --help >/dev/full"),
    ];
    let expect = Expect::codes(&[1]).result(Where::Nowhere).says(&["can't write to standard output"]);
    let shown_again = Row::new(KIND, "a full standard output, for what isn't measured", expect, cases)
        .needing(&[Need::Device("/dev/full")]);
    // `given` would count as a result, so this one measures nothing.
    let gone = ["experiments", "explain", "completions bash", "machines", SHORT];
    let gone = gone.map(|command| Case::script(format!("\"$O\" {command} | true"))).to_vec();
    let gone = Row::new(KIND, "a reader that has gone", Expect::codes(&[0]), gone);
    let no_input = ["report - <&-", "report - </dev/null", "compare - old.json </dev/null"];
    let no_input = no_input.map(|command| given(&format!("exec \"$O\" {command}"))).to_vec();
    let expect = Expect::codes(&[1]).says(&["it is empty, not a result file"]);
    vec![closed, read_only, shown_again, gone, Row::new(KIND, "standard input is empty or closed", expect, no_input)]
}

/// Outputs that look odd but are valid.
fn fine() -> Vec<Row> {
    let row = |name: &str, script: String, result| {
        Row::new(KIND, name, Expect::codes(&[0]).result(result), vec![Case::script(script)])
    };
    vec![
        row(
            "two outputs that are discarded",
            format!("exec \"$O\" {SHORT} --json /dev/null --html /dev/null"),
            Where::Unneeded,
        ),
        row("the result under two names", format!("exec \"$O\" {SHORT} --out r.json --json ./r.json"), Where::Named),
        row("a name of standard output", format!("exec \"$O\" {SHORT} --json /dev/stdout >r.json"), Where::Named),
        row(
            "the file that standard output goes to",
            format!("exec \"$O\" {SHORT} --json r.json >r.json"),
            Where::Named,
        ),
        row("standard error is closed", format!("exec \"$O\" {SHORT} --out r.json 2>&-"), Where::Named),
        row(
            "no standard stream is open",
            format!("exec \"$O\" {SHORT} --out r.json >/dev/null 2>&- <&-"),
            Where::Named,
        ),
        row("an old file is replaced", format!("echo old >r.json; exec \"$O\" {SHORT} --out r.json"), Where::Named),
        row(
            "a link stays a link",
            format!(
                "echo x >a.json; ln -s a.json r.json; \"$O\" {SHORT} --out r.json && test -h r.json && mv a.json b && mv b r.json"
            ),
            Where::Named,
        ),
        row(
            "a link to no file yet stays a link",
            format!(
                "mkdir d; ln -s d/a.json r.json; \"$O\" {SHORT} --out r.json && test -h r.json && mv d/a.json b && mv b r.json"
            ),
            Where::Named,
        ),
        row(
            "a name of 255 bytes",
            format!("n=$(printf %249s | tr ' ' x)r.json; \"$O\" {SHORT} --out $n && exec \"$O\" {SHORT} --out $n"),
            Where::Named,
        ),
    ]
}
