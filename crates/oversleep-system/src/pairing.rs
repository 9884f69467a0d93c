//! Registries: descriptions paired with the implementation of one system. The compiler checks that neither lacks the
//! other.

use crate::Described;

/// Registry name of a description, and the function that makes an entry from it.
pub type Made<I, T> = (&'static str, fn(&'static I) -> Box<T>);

/// The entries of a catalogue, in its order: `registry!(clocks::LINUX, READS)`. A description without an entry, or an
/// entry without a description, doesn't compile.
#[macro_export]
macro_rules! registry {
    ($infos:path, $made:expr) => {{
        const _: () = $crate::pairing::assert_paired(&$crate::names_of!($infos), $made);
        $crate::pairing::registry($infos, $made)
    }};
}

/// The registry names of a constant slice of descriptions.
#[macro_export]
macro_rules! names_of {
    ($infos:expr) => {{
        let mut names = [""; $infos.len()];
        let mut at = 0;
        while at < $infos.len() {
            names[at] = $infos[at].name;
            at += 1;
        }
        names
    }};
}

/// The description with that name, looked up at compile time: `describe!(tunables::LINUX, "slack")`.
#[macro_export]
macro_rules! describe {
    ($infos:path, $name:expr) => {
        &$infos[$crate::pairing::position(&$crate::names_of!($infos), $name)]
    };
}

/// The entries for descriptions, in their order. [`registry!`](crate::registry) checks that none is missing.
pub fn registry<I: Described, T: ?Sized>(infos: &'static [I], made: &[&[Made<I, T>]]) -> Vec<Box<T>> {
    let of = |name| made.iter().copied().flatten().find(|(known, _)| *known == name);
    infos.iter().filter_map(|info| of(info.name()).map(|(_, make)| make(info))).collect()
}

/// Checks that each description has exactly one entry, and each entry a description.
///
/// # Panics
/// With the name that has no counterpart or occurs twice. In a constant, this is a compile error.
pub const fn assert_paired<T>(described: &[&str], made: &[&[(&str, T)]]) {
    let mut at = 0;
    while at < described.len() {
        if count(described[at], made) != 1 {
            panic!("{}", described[at]);
        }
        position(described, described[at]);
        at += 1;
    }
    let mut list = 0;
    while list < made.len() {
        let mut at = 0;
        while at < made[list].len() {
            position(described, made[list][at].0);
            at += 1;
        }
        list += 1;
    }
}

/// The index of that name among the others.
///
/// # Panics
/// With the name, if it is absent or occurs twice. In a constant, this is a compile error.
pub const fn position(names: &[&str], name: &str) -> usize {
    let (mut at, mut found) = (0, None);
    while at < names.len() {
        if is_same(names[at], name) {
            if found.is_some() {
                panic!("{}", name);
            }
            found = Some(at);
        }
        at += 1;
    }
    match found {
        Some(at) => at,
        None => panic!("{}", name),
    }
}

/// Whether two names are the same; constants can't use `==` on them yet.
pub const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn count<T>(name: &str, made: &[&[(&str, T)]]) -> usize {
    let (mut list, mut count) = (0, 0);
    while list < made.len() {
        let mut at = 0;
        while at < made[list].len() {
            if is_same(made[list][at].0, name) {
                count += 1;
            }
            at += 1;
        }
        list += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_pass_in_any_order() {
        assert_paired(&["one", "two", "three"], &[&[("two", ())], &[("one", ()), ("three", ())]]);
        assert_eq!(position(&["one", "two"], "two"), 1);
    }

    #[test]
    #[should_panic(expected = "two")]
    fn a_description_needs_an_entry() {
        assert_paired(&["one", "two"], &[&[("one", ())]]);
    }

    #[test]
    #[should_panic(expected = "tow")]
    fn an_entry_needs_a_description() {
        assert_paired(&["one"], &[&[("one", ()), ("tow", ())]]);
    }

    #[test]
    #[should_panic(expected = "one")]
    fn two_entries_are_one_too_many() {
        assert_paired(&["one"], &[&[("one", ())], &[("one", ())]]);
    }

    #[test]
    #[should_panic(expected = "one")]
    fn a_name_is_described_once() {
        assert_paired(&["one", "one"], &[&[("one", ())]]);
    }
}
