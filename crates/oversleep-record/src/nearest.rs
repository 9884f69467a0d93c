//! Which known name was probably meant by one that isn't known: the one place that suggests.

/// The lowest likeness for a suggestion, from 0 to 1.
const ALIKE_MIN: f64 = 0.75;
/// How alike a name is of which a part was given, and how much the same words in another order count.
const PART: f64 = 0.9;
const REORDERED: f64 = 0.95;

/// The most similar known name, treating `_` as `-`. Case decides only between names that are as similar without it.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    nearest_from(ALIKE_MIN, name, known)
}

/// The same, if it is at least so similar, from 0 to 1.
pub fn nearest_from<'a>(alike_min: f64, name: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = plain(name);
    let likeness = |known: &str| (alike(&given, &plain(known)), strsim::jaro_winkler(name, known));
    let by_likeness = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
    let all = known.iter().map(|known| (*known, likeness(known)));
    let (best, (alike, _)) = all.max_by(|(_, a), (_, b)| by_likeness(a, b))?;
    (alike >= alike_min).then_some(best)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

fn alike(given: &str, known: &str) -> f64 {
    // People often remember a part of a name, or its words in another order.
    let part = if given.len() >= 3 && known.contains(given) { PART } else { 0.0 };
    let reordered = match given.contains('-') && known.contains('-') {
        true => REORDERED * strsim::jaro_winkler(&in_order(given), &in_order(known)),
        false => 0.0,
    };
    strsim::jaro_winkler(given, known).max(part).max(reordered)
}

fn in_order(name: &str) -> String {
    let mut words: Vec<&str> = name.split('-').collect();
    words.sort_unstable();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_was_probably_meant() {
        let known = ["nanosleep", "clock-nanosleep", "epoll-wait", "so-rcvtimeo", "futex"];
        for (given, meant) in [
            ("nanoslep", Some("nanosleep")),
            ("clock_nanosleep", Some("clock-nanosleep")),
            ("EPOLL-WAIT", Some("epoll-wait")),
            ("wait-epoll", Some("epoll-wait")),
            ("rcvtimeo", Some("so-rcvtimeo")),
            ("fuxet", Some("futex")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, &known), meant, "{given}");
        }
        assert_eq!(nearest("x", &[]), None);
        for known in [["Thread.sleep", "Thread.Sleep"], ["Thread.Sleep", "Thread.sleep"]] {
            assert_eq!(nearest("Thread.slep", &known), Some("Thread.sleep"));
            assert_eq!(nearest("Thread.Slep", &known), Some("Thread.Sleep"));
        }
        assert_eq!(nearest_from(0.99, "nanoslep", &known), None);
    }
}
