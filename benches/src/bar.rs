//! Bars: what a comparison has to reach, and whether it does.

use std::fmt;

use crate::pairs::Summary;

/// What a comparison has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// The ratio to the peer lies within that share of 1, on either side.
    RatioWithin(f64),
    /// The ratio to the peer is at most this.
    RatioAtMost(f64),
    /// Our own figure is at most this, in the unit of the pairs.
    OursAtMost(f64),
    /// Our own figure is at least this, in the unit of the pairs.
    OursAtLeast(f64),
    /// There is none: the figures are shown for what they are.
    None,
}

impl Bar {
    /// Whether these figures reach it; `None` where there is no bar.
    pub fn is_met(&self, summary: &Summary) -> Option<bool> {
        match *self {
            Bar::RatioWithin(share) => Some((summary.ratio - 1.0).abs() <= share),
            Bar::RatioAtMost(most) => Some(summary.ratio <= most),
            Bar::OursAtMost(most) => Some(summary.ours <= most),
            Bar::OursAtLeast(least) => Some(summary.ours >= least),
            Bar::None => None,
        }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::RatioWithin(share) => write!(f, "ratio {:.2} to {:.2}", 1.0 - share, 1.0 + share),
            Bar::RatioAtMost(most) => write!(f, "ratio <= {most}"),
            Bar::OursAtMost(most) => write!(f, "ours <= {most}"),
            Bar::OursAtLeast(least) => write!(f, "ours >= {least}"),
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
        let met = |bar: Bar, ratio, ours| bar.is_met(&summary(ratio, ours)).unwrap();
        assert!(met(Bar::RatioWithin(0.1), 1.09, 1.0) && met(Bar::RatioWithin(0.1), 0.91, 1.0));
        assert!(!met(Bar::RatioWithin(0.1), 1.11, 1.0) && !met(Bar::RatioWithin(0.1), 0.89, 1.0));
        assert!(met(Bar::RatioAtMost(1.05), 0.2, 1.0) && !met(Bar::RatioAtMost(1.05), 1.06, 1.0));
        assert!(met(Bar::OursAtMost(10.0), 9.0, 10.0) && !met(Bar::OursAtMost(10.0), 0.1, 10.1));
        assert!(met(Bar::OursAtLeast(10.0), 0.1, 10.0) && !met(Bar::OursAtLeast(10.0), 9.0, 9.9));
        assert_eq!(Bar::None.is_met(&summary(9.0, 9.0)), None);
    }
}
