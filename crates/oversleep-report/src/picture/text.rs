//! Words and figures for pictures: durations from µs, counts, shares, and the width of a text.
//!
//! Widths are estimates, since no font is available: the advances of a wide face (DejaVu Sans), so that a label may get
//! too much room but hardly ever too little.

use crate::words::{self, cost, grouped, percent, sign};

const NBSP: char = '\u{a0}';

/// A unit of time for an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Microseconds per unit.
    pub us: f64,
    /// Its symbol.
    pub symbol: &'static str,
}

const UNITS: [Unit; 4] = [
    Unit { us: 1e-3, symbol: "ns" },
    Unit { us: 1.0, symbol: "µs" },
    Unit { us: 1e3, symbol: "ms" },
    Unit { us: 1e6, symbol: "s" },
];

impl Unit {
    /// The unit in which a value of this many microseconds is best read.
    pub fn for_us(value_us: f64) -> Self {
        let size = value_us.abs();
        UNITS.into_iter().rev().find(|u| size >= u.us * 0.9995).unwrap_or(UNITS[0])
    }
}

/// A duration given in µs as tables write it: `66.2 µs`, `1.07 ms`, `−3.1 µs`.
pub fn time_us(value_us: f64) -> String {
    if !value_us.is_finite() {
        return "unknown".to_owned();
    }
    cost((value_us * 1e6).round() as i64).replace(' ', "\u{a0}")
}

/// A time with a sign, for lateness: `+66.2 µs`.
pub fn signed_us(value_us: f64) -> String {
    let text = time_us(value_us);
    if value_us > 0.0 && value_us.is_finite() { format!("+{text}") } else { text }
}

/// Three significant digits without trailing zeros after the point.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else {
        2
    };
    decimal(value, decimals)
}

/// A number with at most this many decimals, a real minus sign and grouped thousands.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let rest = rest.trim_end_matches('0');
    let mut out = grouped(whole.parse::<i128>().unwrap_or_default());
    if !rest.is_empty() {
        out.push('.');
        out.push_str(rest);
    }
    format!("{}{out}", sign(value < 0.0 && out != "0"))
}

/// A count with grouped thousands: `200,000`.
pub fn count(n: usize) -> String {
    grouped(n)
}

/// A share (0 to 1) as a percentage.
pub fn share(part: f64) -> String {
    percent(part).replace(' ', "\u{a0}")
}

/// `1 sleep`, `2 sleeps`, kept in one line.
pub fn counted(n: usize, noun: &str) -> String {
    words::counted(n, noun).replace(' ', "\u{a0}")
}

/// `1 sleep lies`, `2 sleeps lie`.
pub fn counted_lie(n: usize, noun: &str) -> String {
    format!("{} {}", counted(n, noun), if n == 1 { "lies" } else { "lie" })
}

/// The width in px of a text set in the given size, estimated from above.
pub fn width_px(text: &str, size_px: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|ch| match ch {
            'i' | 'j' | 'l' | '\'' | '|' => 0.29,
            ' ' | NBSP | '.' | ',' | ':' | ';' | '-' | '/' | 'f' => 0.36,
            'r' | 't' | '(' | ')' | '[' | ']' | '!' => 0.42,
            'm' | 'M' | 'W' | '%' | '@' => 0.98,
            'w' | '→' | '+' | '−' => 0.84,
            '_' | 'c' | 's' | 'z' => 0.55,
            c if c.is_ascii_uppercase() => 0.72,
            c if (c as u32) < 0x2100 => 0.64,
            _ => 1.05,
        })
        .sum();
    ems * size_px
}

/// The text, shortened with an ellipsis where it would be wider than the room.
pub fn fitted(text: &str, size_px: f64, room_px: f64) -> String {
    if width_px(text, size_px) <= room_px {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = width_px("…", size_px);
    for ch in text.chars() {
        used += width_px(ch.encode_utf8(&mut [0; 4]), size_px);
        if used > room_px {
            break;
        }
        kept.push(ch);
    }
    format!("{}…", kept.trim_end())
}

/// Remarks with semicolons between them: as many as there is room for, and how many more there are.
pub fn parts_fitted(remarks: &str, size_px: f64, room_px: f64) -> String {
    let parts: Vec<&str> = remarks.split("; ").collect();
    let of = |shown: usize| match parts.len() - shown {
        0 => remarks.to_owned(),
        more => format!("{}; {more} more", parts[..shown].join("; ")),
    };
    let fits = |text: &String| width_px(text, size_px) <= room_px;
    (1..=parts.len()).rev().map(of).find(fits).unwrap_or_else(|| fitted(remarks, size_px, room_px))
}

/// The text in lines no wider than the room; a text longer than `most` lines is cut with an ellipsis.
pub fn wrapped(text: &str, size_px: f64, room_px: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let last = lines.len() >= most.max(1);
        match lines.last_mut() {
            Some(line) if last || width_px(&format!("{line} {word}"), size_px) <= room_px => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fitted(line, size_px, room_px)).collect()
}

/// The names of what looks alike, in so many lines at most: what doesn't fit is counted, `poll, select and 12 like it`.
pub fn alike(names: &[&str], size_px: f64, room_px: f64, most: usize) -> Vec<String> {
    let lines = |line: &str| wrapped(line, size_px, room_px, usize::MAX);
    let whole = lines(&names.join(", "));
    if whole.len() <= most {
        return whole;
    }
    let fits = |shown: usize| {
        let line = format!("{} and {} like it", names[..shown].join(", "), names.len() - shown);
        Some(lines(&line)).filter(|lines| lines.len() <= most)
    };
    (1..names.len()).rev().find_map(fits).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_pick_their_unit() {
        let cases = [
            (0.001, "1\u{a0}ns"),
            (0.0234, "23.4\u{a0}ns"),
            (66.24, "66.2\u{a0}µs"),
            (999.9, "1\u{a0}ms"),
            (1066.0, "1.07\u{a0}ms"),
            (15_625.0, "15.6\u{a0}ms"),
            (1e8, "100\u{a0}s"),
            (-3.1, "−3.1\u{a0}µs"),
            (0.0, "0\u{a0}ns"),
            (f64::NAN, "unknown"),
        ];
        for (value, text) in cases {
            assert_eq!(time_us(value), text);
        }
        assert_eq!(signed_us(66.24), "+66.2\u{a0}µs");
        assert_eq!(signed_us(-1.0), "−1\u{a0}µs");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(decimal(-0.001, 2), "0");
        assert_eq!(counted(1, "sleep"), "1\u{a0}sleep");
    }

    #[test]
    fn remarks_without_room_are_counted() {
        let remarks = "time of day, can be set; 1 s steps, as stated; did not move while observed";
        let fitted = |room| parts_fitted(remarks, 11.0, room);
        assert_eq!(fitted(900.0), remarks);
        assert_eq!(fitted(400.0), "time of day, can be set; 1 s steps, as stated; 1 more");
        assert_eq!(fitted(220.0), "time of day, can be set; 2 more");
        assert!(fitted(60.0).ends_with('…'), "{}", fitted(60.0));
    }

    #[test]
    fn long_text_is_cut_or_wrapped_to_its_room() {
        let long = "pthread_cond_timedwait with a very long remark behind it";
        let cut = fitted(long, 12.0, 100.0);
        assert!(cut.ends_with('…') && width_px(&cut, 12.0) <= 100.0);
        let lines = wrapped(long, 12.0, 150.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|l| width_px(l, 12.0) <= 150.0), "{lines:?}");
        assert!(lines[1].ends_with('…'));
        assert!(wrapped("", 12.0, 100.0, 2).is_empty());
    }
}
