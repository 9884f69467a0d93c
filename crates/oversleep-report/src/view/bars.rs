//! A histogram as a line of characters.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Values with their counts, from `low` to `high`, as bars in that many columns. Values beyond an end are counted
/// there; every value that occurs is visible.
pub fn bars(values: impl IntoIterator<Item = (f64, u64)>, low: f64, high: f64, columns: usize) -> String {
    let mut counts = vec![0_u64; columns.max(1)];
    let last = counts.len() - 1;
    for (value, count) in values {
        // NaN casts to the first column.
        let column = ((value - low) / (high - low) * columns as f64) as usize;
        counts[column.min(last)] = counts[column.min(last)].saturating_add(count);
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    let steps = BARS.len() as u64 - 1;
    let bar = |&count: &u64| match count {
        0 => ' ',
        count => BARS[(u128::from(count) * u128::from(steps)).div_ceil(u128::from(highest)).min(7) as usize],
    };
    counts.iter().map(bar).collect()
}

/// Whether a text consists of such bars.
pub fn are_bars(text: &str) -> bool {
    text.contains(BARS) && text.chars().all(|letter| letter == ' ' || BARS.contains(&letter))
}

/// Bars in fewer columns, each as high as the highest of those whose place it takes.
pub fn narrower(bars: &str, columns: usize) -> String {
    let all: Vec<char> = bars.chars().collect();
    let place = |column: usize| column * all.len() / columns.max(1);
    // A higher bar is a later letter, and a blank an earlier one.
    let highest = |column: usize| all[place(column)..place(column + 1)].iter().copied().max();
    (0..columns.max(1)).filter_map(highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_is_still_seen() {
        let values = [(0.0, 1), (2.5, 1_000), (9.9, 500), (12.0, 1)];
        assert_eq!(bars(values, 0.0, 10.0, 10), "▂ █      ▅");
        assert_eq!(bars([(1.0, 3)], 1.0, 1.0, 4), "█   ", "no width");
        assert_eq!(narrower("▂ █   ▅ ", 4), "▂█ ▅");
        assert_eq!(narrower("▂ █", 5), "▂ █", "never more");
        assert!(are_bars(" ▂█ ") && !are_bars("  ") && !are_bars("█ 1 ms"));
        assert_eq!(bars([], 0.0, 1.0, 3), "   ");
        assert_eq!(bars([(f64::NAN, u64::MAX), (5.0, u64::MAX)], 0.0, 5.0, 2), "██");
    }
}
