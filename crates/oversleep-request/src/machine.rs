//! Modelled machines that options name.

use oversleep_lab::{Laboratory, machines};

use crate::args::ModelArgs;
use crate::names;
use crate::refusal::Refusal;

/// A modelled machine with its changes.
///
/// # Errors
/// Unknown machines, and invalid changes.
pub fn modelled(name: &str, model: &ModelArgs) -> Result<Laboratory, Refusal> {
    known(name)?;
    let seed = model.seed.unwrap_or(machines::SEED);
    machines::load(name, &model.set, seed).map_err(|error| Refusal::usage(error.to_string()))
}

/// Checks that there is such a machine.
///
/// # Errors
/// There is none, with the name that was probably meant.
pub fn known(name: &str) -> Result<(), Refusal> {
    if machines::is_known(name) {
        return Ok(());
    }
    let meant: Vec<String> = meant(name).into_iter().map(|near| format!("'{near}'")).collect();
    let meant = match meant.split_last() {
        Some((last, [])) => format!("did you mean {last}? "),
        Some((last, others)) => format!("did you mean {} or {last}? ", others.join(", ")),
        None => String::new(),
    };
    Err(Refusal::usage(format!("unknown modelled machine '{name}'; {meant}`oversleep machines` lists them all")))
}

/// The most machines to suggest.
const SUGGESTIONS: usize = 3;

/// The words of machines' names for a system, and those that people use.
const SYSTEMS: &[(&str, &[&str])] = &[
    ("windows", &["win"]),
    ("macos", &["mac", "osx", "darwin", "apple"]),
    ("linux", &["ubuntu", "debian", "fedora", "rhel", "centos", "arch", "suse", "opensuse", "alpine", "mint"]),
    ("raspberry", &["rpi", "raspi", "raspberrypi"]),
];

/// Machines of today, the one that most people have first. Where a name fits several, these are suggested before all others.
const CURRENT: &[&str] =
    &["windows-11", "windows-10-2004", "windows-server-2025", "macos-14-m1", "linux-hz250", "linux-hz1000"];

/// The machines that were probably meant: those whose name has every word of it, or whose title has, or the one with the
/// most similar name, or those of its system.
fn meant(name: &str) -> Vec<&'static str> {
    let (mut known, given) = (machines::names(), words(name));
    known.sort_by_key(|known| CURRENT.iter().position(|current| current == known).unwrap_or(CURRENT.len()));
    let having = |text: fn(&str) -> String| -> Vec<&'static str> {
        known.iter().copied().filter(|known| has(&words(&text(known)), &given)).take(SUGGESTIONS).collect()
    };
    let in_names = having(str::to_owned);
    if !in_names.is_empty() {
        return in_names;
    }
    let in_titles = having(|known| machines::describe(known, &[]).map_or_else(|_| String::new(), |known| known.title));
    if !in_titles.is_empty() {
        return in_titles;
    }
    if let Some(near) = names::nearest(name, &known) {
        return vec![near];
    }
    let Some(system) = given.first().filter(|first| SYSTEMS.iter().any(|(system, _)| system == first)) else {
        return Vec::new();
    };
    known.into_iter().filter(|known| words(known).first() == Some(system)).take(SUGGESTIONS).collect()
}

/// The words and numbers of a name, in lower case, with the usual word for each system.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for letter in name.chars().flat_map(char::to_lowercase) {
        let kind = letter.is_alphanumeric().then_some(letter.is_numeric());
        match (kind, words.last_mut()) {
            (Some(_), Some(word)) if kind == last => word.push(letter),
            (Some(_), _) => words.push(letter.to_string()),
            (None, _) => {}
        }
        last = kind;
    }
    words.into_iter().flat_map(usual).collect()
}

/// The usual word for a system, and what people write together with it: `winxp`.
fn usual(word: String) -> Vec<String> {
    for (system, others) in SYSTEMS {
        if word == *system || others.contains(&word.as_str()) {
            return vec![(*system).to_owned()];
        }
    }
    let rest = word.strip_prefix("win").or(word.strip_prefix("mac")).filter(|rest| rest.len() > 1);
    match rest {
        Some(rest) => [usual(word[..3].to_owned()), vec![rest.to_owned()]].concat(),
        None => vec![word],
    }
}

/// Whether it has all of these words in their order.
fn has(words: &[String], wanted: &[String]) -> bool {
    let mut words = words.iter();
    !wanted.is_empty() && wanted.iter().all(|wanted| words.any(|word| word == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_found_by_the_names_that_people_use() {
        for (given, suggested) in [
            ("win11", &["windows-11", "windows-11-half-ms"][..]),
            ("Windows11", &["windows-11", "windows-11-half-ms"]),
            ("win10", &["windows-10-2004", "windows-10-1909", "windows-10-laptop"]),
            ("windows", &["windows-11", "windows-10-2004", "windows-server-2025"]),
            ("windows-10", &["windows-10-2004", "windows-10-1909", "windows-10-laptop"]),
            ("macos", &["macos-14-m1", "macos-ci-vm", "macos-intel"]),
            ("linux", &["linux-hz250", "linux-hz1000", "linux-fifo"]),
            ("winxp", &["windows-xp"]),
            ("win7", &["windows-7"]),
            ("server2022", &["windows-server-2022"]),
            ("macos15", &["macos-ci-vm"]),
            ("mac", &["macos-14-m1", "macos-ci-vm", "macos-intel"]),
            ("osx", &["macos-14-m1", "macos-ci-vm", "macos-intel"]),
            ("ubuntu", &["linux-hz250", "linux-hz1000", "linux-fifo"]),
            ("ubuntu-24.04", &["linux-hz250", "linux-hz1000", "linux-fifo"]),
            ("rpi4", &["raspberry-pi-4"]),
            ("wsl", &["wsl1", "wsl2"]),
            ("windows-12", &["windows-11"]),
            ("zzz", &[]),
            ("", &[]),
        ] {
            assert_eq!(meant(given), suggested, "{given}");
        }
        let error = |name| known(name).expect_err("there is none").to_string();
        let windows = "unknown modelled machine 'win11'; did you mean 'windows-11' or 'windows-11-half-ms'? ";
        assert!(error("win11").starts_with(windows), "{}", error("win11"));
        let mac = "'macos-14-m1', 'macos-ci-vm' or 'macos-intel'?";
        assert!(error("mac").contains(mac), "{}", error("mac"));
    }
}
