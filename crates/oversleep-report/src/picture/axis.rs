//! Grid lines, tick labels and axis names. Minor ticks get a short mark and no grid line.

use super::scale::Tick;
use super::svg::{Anchor, Canvas};
use super::text;

/// The size of labels on an axis, px.
const TICK_PX: f64 = 11.0;

/// Rounds to a pixel's centre, so that a one-pixel line is one pixel wide.
pub fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

/// A vertical axis at `x`: labels to its left, grid lines to `x_end`.
pub fn left(c: &mut Canvas, ticks: &[Tick], x: f64, x_end: f64) {
    for tick in ticks {
        let y = crisp(tick.at);
        if tick.label.is_empty() {
            c.line((x - 3.0, y), (x, y), "axis s thin");
        } else {
            c.line((x, y), (x_end, y), "grid s");
            c.text((x - 8.0, y + 4.0), Anchor::End, "soft t", &tick.label);
        }
    }
}

/// A horizontal axis at `y`: labels beneath it, grid lines up to `y_end`.
pub fn bottom(c: &mut Canvas, ticks: &[Tick], y: f64, y_end: f64) {
    upright(c, ticks, (y, y_end), (3.0, 16.0));
}

/// Vertical grid lines with labels above, for charts whose rows are read from the top.
pub fn top(c: &mut Canvas, ticks: &[Tick], y: f64, y_end: f64) {
    upright(c, ticks, (y, y_end), (-3.0, -7.0));
}

/// Vertical grid lines from `y` to `y_end`; marks and labels stand that far outside.
fn upright(c: &mut Canvas, ticks: &[Tick], (y, y_end): (f64, f64), (mark, label): (f64, f64)) {
    for tick in ticks {
        let x = crisp(tick.at);
        if tick.label.is_empty() {
            c.line((x, y.min(y + mark)), (x, y.max(y + mark)), "axis s thin");
        } else {
            c.line((x, y.min(y_end)), (x, y.max(y_end)), "grid s");
            // A label at the very edge begins there.
            let is_at_edge = x < text::width_px(&tick.label, TICK_PX) / 2.0;
            let (x, anchor) = if is_at_edge { (2.0, Anchor::Start) } else { (x, Anchor::Middle) };
            c.text((x, y + label), anchor, "soft t", &tick.label);
        }
    }
}

/// How much lower every other label stands where they are too wide to stand side by side.
pub const CATEGORY_ROW: f64 = 14.0;

/// How many labels share a row's room with their neighbours, if each category has that width: 1, or 2 in two rows, or more,
/// of which the rest have no label.
pub fn rows_of_categories(labels: &[String], room: f64) -> usize {
    let widest = labels.iter().map(|label| text::width_px(label, TICK_PX)).fold(0.0, f64::max);
    ((widest + 4.0) / room.max(1.0)).ceil().clamp(1.0, labels.len().max(1) as f64) as usize
}

/// Labels of categories beneath an axis. Too wide ones stand in two rows, and of wider ones every so many has a label.
/// None ends beyond the right end of the axis.
pub fn categories(
    c: &mut Canvas,
    labels: &[String],
    room: f64,
    at: impl Fn(usize) -> f64,
    (right, baseline): (f64, f64),
) {
    let rows = rows_of_categories(labels, room);
    let every = rows.div_ceil(2);
    for (number, index) in (0..labels.len()).step_by(every).enumerate() {
        let lower = if rows > 1 && number % 2 == 1 { CATEGORY_ROW } else { 0.0 };
        let label = text::fitted(&labels[index], TICK_PX, room * 2.0 * every as f64);
        let is_at_edge = at(index) + text::width_px(&label, TICK_PX) / 2.0 > right;
        let (x, anchor) = if is_at_edge { (right, Anchor::End) } else { (at(index), Anchor::Middle) };
        c.text((x, baseline + lower), anchor, "soft t", &label);
    }
}

/// The name of an axis, centred beneath it.
pub fn name(c: &mut Canvas, middle: (f64, f64), name: &str) {
    c.text(middle, Anchor::Middle, "soft t", name);
}

/// Moves labels apart. Given the desired positions in ascending order, returns the closest positions that are at least
/// `gap` apart and, if there is room, inside the range.
pub fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    // Blocks of touching labels, each centred on the mean of its members' desired positions; blocks that meet merge.
    let mut blocks: Vec<(f64, usize, f64)> = Vec::new();
    for &want in wanted {
        let mut block = (want, 1, want);
        while let Some(&(start, n, sum)) = blocks.last() {
            if start + n as f64 * gap <= block.0 {
                break;
            }
            blocks.pop();
            let members = n + block.1;
            // A member behind k others adds its own position less k gaps.
            let sum = sum + block.2 - block.1 as f64 * n as f64 * gap;
            block = (bounded(sum / members as f64, members, gap, low, high), members, sum);
        }
        blocks.push((bounded(block.0, block.1, gap, low, high), block.1, block.2));
    }
    blocks.iter().flat_map(|&(start, n, _)| (0..n).map(move |i| start + i as f64 * gap)).collect()
}

fn bounded(start: f64, members: usize, gap: f64, low: f64, high: f64) -> f64 {
    start.min(high - (members - 1) as f64 * gap).max(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_category_ends_where_the_axis_does() {
        let mut c = Canvas::default();
        let labels = ["1 ms".to_owned(), "200 µs".to_owned()];
        categories(&mut c, &labels, 20.0, |index| 20.0 + 20.0 * index as f64, (50.0, 10.0));
        let svg = c.finish();
        let ends_at_edge = |line: &&str| line.contains("200 µs") && line.contains("end") && line.contains("50");
        assert!(svg.split("<text").any(|line| ends_at_edge(&line)), "{svg}");
        assert!(svg.split("<text").any(|line| line.contains("1 ms") && line.contains("middle")), "{svg}");
    }

    #[test]
    fn labels_with_room_stay() {
        assert_eq!(spread(&[10.0, 50.0, 90.0], 12.0, 0.0, 100.0), [10.0, 50.0, 90.0]);
    }

    #[test]
    fn crowded_labels_move_apart_and_stay_inside() {
        assert_eq!(spread(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0), [40.0, 50.0, 60.0]);
        assert_eq!(spread(&[1.0, 2.0], 10.0, 0.0, 100.0), [0.0, 10.0]);
        for wanted in [vec![98.0, 99.0, 99.0, 100.0], vec![0.0, 5.0, 6.0, 40.0, 41.0, 95.0, 97.0], vec![30.0; 8]] {
            let got = spread(&wanted, 10.0, 0.0, 100.0);
            assert_eq!(got.len(), wanted.len());
            assert!(got.windows(2).all(|w| w[1] - w[0] >= 10.0 - 1e-9), "{got:?}");
            assert!(got[0] >= 0.0 && got[got.len() - 1] <= 100.0 + 1e-9, "{got:?}");
        }
    }
}
