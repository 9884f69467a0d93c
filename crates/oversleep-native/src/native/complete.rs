//! That a system's descriptions and calls belong together, checked while this crate is compiled for that system.

/// Whether two names are the same; `==` of strings can't be used in constants.
pub(crate) const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Refuses to compile where a description has no call, a call has no description, or one of them stands twice. The
/// error names it. `$entries` are slices of slices, by file.
macro_rules! assert_complete {
    ($described:expr, $entries:expr) => {
        const _: () = {
            let (described, entries) = ($described, $entries);
            let (mut at, mut opened) = (0, 0);
            while at < described.len() {
                let (mut file, mut calls) = (0, 0);
                opened = 0;
                while file < entries.len() {
                    let mut entry = 0;
                    while entry < entries[file].len() {
                        if crate::native::complete::is_same(entries[file][entry].info.name, described[at].name) {
                            calls += 1;
                        }
                        entry += 1;
                    }
                    opened += entries[file].len();
                    file += 1;
                }
                if calls != 1 {
                    panic!("{}", described[at].name);
                }
                at += 1;
            }
            assert!(opened == described.len(), "a call is not among the descriptions of its system");
        };
    };
}

pub(crate) use assert_complete;

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn names_are_compared_as_a_whole() {
        assert!(is_same("poll", "poll") && is_same("", ""));
        assert!(!is_same("poll", "ppoll") && !is_same("poll", "pol") && !is_same("kevent", "kevent-timer"));
    }
}
