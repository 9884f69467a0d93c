//! Pairs descriptions with what a system adds to them, and checks while compiling that neither stands alone.

/// The registry names of a constant slice of descriptions.
#[macro_export]
macro_rules! names_of {
    ($infos:path) => {{
        let mut names = [""; $infos.len()];
        let mut at = 0;
        while at < $infos.len() {
            names[at] = $infos[at].name;
            at += 1;
        }
        names
    }};
}

/// Checks that each description has exactly one call, and each call a description.
///
/// # Panics
/// With the name of the one that stands alone, or that occurs twice. In a constant, that stops the compiler.
pub const fn assert_paired<T>(described: &[&str], added: &[&[(&str, T)]]) {
    let mut at = 0;
    while at < described.len() {
        assert_once(described[at], described);
        if count(described[at], added) != 1 {
            panic!("{}", described[at]);
        }
        at += 1;
    }
    let mut list = 0;
    while list < added.len() {
        let mut at = 0;
        while at < added[list].len() {
            assert_once(added[list][at].0, described);
            at += 1;
        }
        list += 1;
    }
}

/// Whether two names are the same; `==` is not for constants yet.
pub const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn assert_once(name: &str, names: &[&str]) {
    let (mut at, mut count) = (0, 0);
    while at < names.len() {
        if is_same(names[at], name) {
            count += 1;
        }
        at += 1;
    }
    if count != 1 {
        panic!("{}", name);
    }
}

const fn count<T>(name: &str, added: &[&[(&str, T)]]) -> usize {
    let (mut list, mut count) = (0, 0);
    while list < added.len() {
        let mut at = 0;
        while at < added[list].len() {
            if is_same(added[list][at].0, name) {
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
    }

    #[test]
    #[should_panic(expected = "two")]
    fn a_description_needs_a_call() {
        assert_paired(&["one", "two"], &[&[("one", ())]]);
    }

    #[test]
    #[should_panic(expected = "tow")]
    fn a_call_needs_a_description() {
        assert_paired(&["one"], &[&[("one", ()), ("tow", ())]]);
    }

    #[test]
    #[should_panic(expected = "one")]
    fn two_calls_are_one_too_many() {
        assert_paired(&["one"], &[&[("one", ())], &[("one", ())]]);
    }

    #[test]
    #[should_panic(expected = "one")]
    fn a_name_is_described_once() {
        assert_paired(&["one", "one"], &[&[("one", ())]]);
    }
}
