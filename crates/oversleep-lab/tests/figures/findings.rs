//! Findings in two parts: their verdicts with the gains of their remedies, and the figures behind them.

use oversleep_record::finding::{Advice, Evidence, Finding, Tried};
use oversleep_record::{Nanos, ResultFile};

use crate::result::Places;
use crate::stream::{Part, Stream};
use crate::words;

/// Ids, verdicts and remedies.
pub fn findings(file: &ResultFile) -> Part {
    let mut stream = Stream::default();
    for finding in &file.findings {
        let Finding {
            id,
            name,
            // Only findings about observed programs have these; no model has programs to follow.
            instance: _,
            explained_ns: _,
            summary: _,
            severity,
            verdict,
            sentence: _,
            more: _,
            evidence: _,
            advice,
        } = finding;
        stream.line("finding").put(id).put(name).put(words::severity(*severity)).put(words::verdict(*verdict));
        for Advice { remedy, sentence: _, example: _, tried } in advice {
            stream.line("  remedy").put(remedy);
            tell_tried(&mut stream, tried);
        }
    }
    Part::new("findings", stream, file.findings.len(), "findings")
}

fn tell_tried(stream: &mut Stream, tried: &Tried) {
    match tried {
        Tried::Measured {
            subject,
            instead_of,
            requested_ns,
            before_p50_ns,
            after_p50_ns,
            before_p99_ns,
            after_p99_ns,
            helped,
        } => {
            stream.put("measured").put(subject).some("instead-of", instead_of.as_ref());
            stream.some("requested", requested_ns.map(|Nanos(span)| span));
            stream.put("p50").all([before_p50_ns, after_p50_ns]);
            stream.some("p99-before", *before_p99_ns).some("p99-after", *after_p99_ns).put(helped)
        }
        Tried::Refused { why: _ } => stream.put("refused"),
        Tried::NotTried { why: _ } => stream.put("not-tried"),
    };
}

/// The place of each figure in the evidence, and its numbers.
pub fn evidence(file: &ResultFile, places: &Places) -> Part {
    let mut stream = Stream::default();
    let mut count = 0;
    for finding in &file.findings {
        for Evidence { source, text } in &finding.evidence {
            count += 1;
            stream.line("evidence").put(&finding.id);
            // Series with the same text share one source.
            for source in source.split(", ").flat_map(|sources| sources.split(" and ")) {
                stream.put(places.get(source).map_or(source, String::as_str));
            }
            stream.put("says").all(numbers(text));
        }
    }
    Part::new("evidence", stream, count, "figures")
}

/// The numbers of a sentence, with the unit if one follows. A word with letters before the first digit is a name.
fn numbers(text: &str) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    let mut wants_unit = false;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric() && !"-−%/".contains(letter));
        let (number, per) = bare.split_once('/').unwrap_or((bare, ""));
        // The thousands separator and the form of a minus are not part of a figure.
        let number = number.replace(',', "").replace('−', "-");
        if number.parse::<f64>().is_ok_and(f64::is_finite) {
            numbers.push(if per.is_empty() { number } else { format!("{number}/{per}") });
            wants_unit = per.is_empty();
        } else {
            if let (true, "ns" | "µs" | "ms" | "s" | "%", Some(last)) = (wants_unit, bare, numbers.last_mut()) {
                last.push_str(bare);
            }
            wants_unit = false;
        }
    }
    numbers
}

#[test]
fn numbers_are_told_from_names_and_words() {
    for (text, told) in [
        ("p50 512 µs (20 values); 500 µs of it by rounding", &["512µs", "20", "500µs"][..]),
        ("p50 −200 ns (1,024 values)", &["-200ns", "1024"]),
        ("p50 16132/s (2 values)", &["16132/s", "2"]),
        ("steps of 15 or 16 ms", &["15", "16ms"]),
        ("5.1 % early; stamped with qpc", &["5.1%"]),
        ("6.18.44", &[]),
        ("get-tick-count-64 held", &[]),
    ] {
        assert_eq!(numbers(text), told, "{text}");
    }
}
