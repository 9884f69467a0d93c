//! Everything that a reader sees of results, word for word: a figure, a part or a sentence that changes is seen in the
//! difference. `OVERSLEEP_UPDATE_GOLDEN=1` writes the texts again; read the difference before you commit it.

use oversleep_lab::share::share;
use oversleep_record::ResultFile;
use oversleep_record::observed::By;

use crate::support::{brief, comparison, everything, names, observation, package, recorded, renamed, report, result};

fn reads(name: &str, text: &str) {
    let golden = package().join("tests/observed/read").join(name);
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, text).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap().replace("\r\n", "\n");
    let changed = text.lines().zip(expected.lines()).position(|(now, before)| now != before);
    let line = |text: &str| changed.and_then(|line| text.lines().nth(line).map(str::to_owned));
    assert_eq!(line(text), line(&expected), "{name}, line {changed:?}");
    assert_eq!(text.lines().count(), expected.lines().count(), "{name}");
}

/// One wait, with the stack of a program that has no frame pointers.
fn one() -> ResultFile {
    let mut one = result("recorded-one");
    observation(&mut one).worst[0].stack.user = vec!["clock_nanosleep+0x5a (libc.so.6)".to_owned()];
    one
}

/// As if a supervisor had followed the program without records of context switches.
fn without_switches() -> ResultFile {
    let mut file = recorded();
    observation(&mut file).by = By::SupervisorWithoutSwitches;
    file
}

#[test]
fn reports() {
    let named = |name: &str, file: ResultFile| format!("==== {name}\n{}", report(&file));
    let special = [
        ("recorded, shared", share(&recorded())),
        ("recorded-one, with a stack", one()),
        ("recorded, without switches", without_switches()),
        ("everything", everything()),
        ("everything, shared", share(&everything())),
    ];
    let special = special.map(|(name, file)| named(name, file));
    let all = names().into_iter().map(|name| named(&name, result(&name))).chain(special);
    reads("reports.txt", &all.collect::<Vec<_>>().join("\n"));
}

/// Without --full: the verdict, its causes, and what fits two screens.
#[test]
fn reports_in_brief() {
    let special = [("recorded, without switches", without_switches()), ("everything", everything())];
    let all = names().into_iter().map(|name| (name.clone(), result(&name)));
    let all = all.chain(special.map(|(name, file)| (name.to_owned(), file)));
    let all: Vec<String> = all.map(|(name, file)| format!("==== {name}\n{}", brief(&file, 80))).collect();
    reads("brief.txt", &all.join("\n"));
}

#[test]
fn comparisons() {
    let cured = || result("recorded-cured");
    let of_call = |call: &str| renamed(&cured().series[0], |identity| identity.call = call.to_owned());
    let other_call = ResultFile { series: vec![of_call("epoll_pwait2")], ..cured() };
    let two_calls = ResultFile { series: vec![of_call("epoll_pwait2"), of_call("poll")], ..cured() };
    let all = [
        vec![recorded(), cured(), recorded()],
        vec![cured(), recorded()],
        vec![recorded(), other_call],
        vec![recorded(), two_calls],
        vec![recorded(), everything()],
        vec![one(), result("recorded-none")],
    ];
    reads("comparisons.txt", &all.map(|results| comparison(&results)).join("\n====\n"));
}
