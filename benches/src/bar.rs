//! Bars: the thresholds that comparisons must meet.

use std::fmt;

use crate::pairs::{Pairs, Summary};

/// The threshold that a comparison must meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// The ratio to the peer differs from 1 by at most this fraction.
    RatioWithin(f64),
    /// The ratio to the peer is at most this.
    RatioAtMost(f64),
    /// The ratio of our median to the peer's is at most this: for figures that vary by orders of magnitude from pair to
    /// pair.
    MediansAtMost(f64),
    /// Our figure is at most this ratio of the peer's, plus this much, pair by pair. It is missed if more than half of the
    /// pairs are beyond that, by a one-sided sign test at 5 %.
    PairsAtMost(f64, f64),
    /// Our own figure is at most this, in the unit of the pairs.
    OursAtMost(f64),
    /// Our own figure is at least this, in the unit of the pairs.
    OursAtLeast(f64),
    /// No threshold; the figures are only shown.
    None,
}

impl Bar {
    /// Whether these figures meet it; `None` without a bar.
    pub fn is_met(&self, pairs: &Pairs, summary: &Summary) -> Option<bool> {
        match *self {
            Bar::RatioWithin(share) => Some((summary.ratio - 1.0).abs() <= share),
            Bar::RatioAtMost(max) => Some(summary.ratio <= max),
            Bar::MediansAtMost(max) => Some(summary.ours <= max * summary.peer),
            Bar::PairsAtMost(ratio, more) => Some(!pairs.are_beyond(ratio, more)),
            Bar::OursAtMost(max) => Some(summary.ours <= max),
            Bar::OursAtLeast(min) => Some(summary.ours >= min),
            Bar::None => None,
        }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::RatioWithin(share) => write!(f, "ratio {:.2} to {:.2}", 1.0 - share, 1.0 + share),
            Bar::RatioAtMost(max) => write!(f, "ratio <= {max}"),
            Bar::MediansAtMost(max) => write!(f, "ratio of the medians <= {max}"),
            Bar::PairsAtMost(ratio, 0.0) => write!(f, "ratio <= {ratio} (sign test of the pairs)"),
            Bar::PairsAtMost(ratio, more) => {
                write!(f, "ours <= {ratio} x the peer's + {more} (sign test of the pairs)")
            }
            Bar::OursAtMost(max) => write!(f, "ours <= {max}"),
            Bar::OursAtLeast(min) => write!(f, "ours >= {min}"),
            Bar::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(ratio: f64, ours: f64) -> Summary {
        Summary { pairs: 1, ratio, ratio_min: ratio, ratio_max: ratio, larger: 0, ours, peer: ours / ratio }
    }

    #[test]
    fn each_bar_is_met_up_to_its_edge_and_not_beyond() {
        let met = |bar: Bar, ratio, ours| bar.is_met(&Pairs::default(), &summary(ratio, ours)).unwrap();
        assert!(met(Bar::RatioWithin(0.1), 1.09, 1.0) && met(Bar::RatioWithin(0.1), 0.91, 1.0));
        assert!(!met(Bar::RatioWithin(0.1), 1.11, 1.0) && !met(Bar::RatioWithin(0.1), 0.89, 1.0));
        assert!(met(Bar::RatioAtMost(1.05), 0.2, 1.0) && !met(Bar::RatioAtMost(1.05), 1.06, 1.0));
        let medians =
            |ours, peer| Bar::MediansAtMost(0.5).is_met(&Pairs::default(), &Summary { peer, ..summary(9.0, ours) });
        assert_eq!((medians(5.0, 10.0), medians(5.1, 10.0)), (Some(true), Some(false)));
        assert!(met(Bar::OursAtMost(10.0), 9.0, 10.0) && !met(Bar::OursAtMost(10.0), 0.1, 10.1));
        assert!(met(Bar::OursAtLeast(10.0), 0.1, 10.0) && !met(Bar::OursAtLeast(10.0), 9.0, 9.9));
        let of_thirty = |beyond: usize| {
            let mut pairs = Pairs::default();
            (0..30).for_each(|pair| pairs.push(if pair < beyond { 1.41 } else { 1.39 }, 1.0));
            Bar::PairsAtMost(1.1, 0.3).is_met(&pairs, &summary(1.0, 1.0))
        };
        assert_eq!([0, 15, 19, 20, 30].map(of_thirty), [true, true, true, false, false].map(Some));
        assert_eq!(Bar::None.is_met(&Pairs::default(), &summary(9.0, 9.0)), None);
    }
}
