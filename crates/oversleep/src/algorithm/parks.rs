//! What a back-off learns about parks: whether to park, and when to try it again.

/// Whether parks are late here.
///
/// A park that takes longer than allowed either met a disturbance (throttling, a suspend, another thread) or shows that the
/// machine's timer is coarse. After a disturbance the worker should park on, because yields would only burn CPU time; on a
/// coarse timer it should yield. What tells them apart is how many parks in a row are late: on a coarse timer it is all.
#[derive(Clone, Debug)]
pub struct LearnedParks {
    /// How late parks are: the longest recent lateness of those that took no longer than allowed, or of the others while
    /// parking is refused.
    lateness_ns: Option<u64>,
    /// How much more lateness is taken for a disturbance. Negative: parking is refused.
    trust_ns: i64,
    /// Yields before the next probe, which is a park while parking is refused.
    yields_left: u64,
    /// Yields between the next late probe and the one after it.
    interval: u64,
    /// How many late probes more may follow each other quickly.
    quick_probes: u32,
}

impl Default for LearnedParks {
    fn default() -> Self {
        Self {
            lateness_ns: None,
            trust_ns: 0,
            yields_left: Self::FIRST_INTERVAL,
            interval: Self::FIRST_INTERVAL,
            quick_probes: Self::QUICK_PROBES_AT_FIRST,
        }
    }
}

impl LearnedParks {
    /// A yield that finds no other thread to run takes half a microsecond, so this is half a millisecond.
    const FIRST_INTERVAL: u64 = 1_024;
    /// 66 ms of yields, so that parking begins again within 100 ms after a disturbance.
    const QUICK_INTERVAL: u64 = 1 << 17;
    /// A park that costs this many ns per yield before it takes a hundredth of the time.
    const NS_PER_YIELD: u64 = 5;
    /// How many late probes make a coarse timer certain if no park was ever on time, and if parks were.
    const QUICK_PROBES_AT_FIRST: u32 = 16;
    const QUICK_PROBES: u32 = 128;
    /// Where parks were on time, parks that are late for a second in all are taken for a disturbance.
    const FULL_TRUST_NS: i64 = 1_000_000_000;
    /// How many parks in a row that are on time restore full trust.
    const ON_TIME_PARKS: i64 = 16;
    /// A longer lateness counts as this much, so that it is their number that counts.
    const LATE_NS: u64 = 20_000_000;

    /// How much of `absence_ns` is left for a park of at least `first_ns`, if parking isn't refused.
    pub fn affordable_ns(&self, first_ns: u64, absence_ns: u64) -> Option<u64> {
        let affordable_ns = absence_ns.saturating_sub(self.lateness_ns.unwrap_or(0));
        (self.trust_ns >= 0 && affordable_ns >= first_ns).then_some(affordable_ns)
    }

    /// Whether a turn that may not park is a probe.
    pub fn probes(&mut self) -> bool {
        let left = self.yields_left.checked_sub(1);
        self.yields_left = left.unwrap_or(0);
        left.is_none()
    }

    /// Learns from a park that was this late.
    pub fn learn(&mut self, first_ns: u64, absence_ns: u64, lateness_ns: u64) {
        if first_ns.saturating_add(lateness_ns) > absence_ns {
            self.learn_late(lateness_ns);
        } else {
            self.learn_on_time(lateness_ns);
        }
    }

    /// How late parks are, as far as they were made.
    #[cfg(feature = "std")]
    pub(crate) fn lateness_ns(&self) -> Option<u64> {
        self.lateness_ns
    }

    /// Skips the yields before the next probe, and returns how many they are.
    #[cfg(test)]
    pub(crate) fn skip_yields(&mut self) -> u64 {
        if self.trust_ns < 0 { core::mem::take(&mut self.yields_left) } else { 0 }
    }

    fn learn_late(&mut self, lateness_ns: u64) {
        let counted_ns = counted_ns(lateness_ns);
        self.trust_ns = (self.trust_ns - counted_ns).max(-2 * counted_ns);
        if self.trust_ns >= 0 {
            return;
        }
        let longest_ns = lateness_ns.max(self.remembered_ns());
        self.lateness_ns = Some(longest_ns);
        self.yields_left = self.interval;
        self.quick_probes = self.quick_probes.saturating_sub(1);
        let hundredth = Self::FIRST_INTERVAL.max(longest_ns / Self::NS_PER_YIELD);
        self.interval = match self.quick_probes {
            0 => hundredth,
            _ => hundredth.min(2 * self.interval).min(Self::QUICK_INTERVAL),
        };
    }

    fn learn_on_time(&mut self, lateness_ns: u64) {
        if self.trust_ns < 0 {
            // Enough for the next park. A probe that just met the tick of a coarse timer is followed by late parks.
            self.trust_ns += 3 * counted_ns(self.lateness_ns.unwrap_or(0));
            self.lateness_ns = Some(lateness_ns);
            return;
        }
        self.lateness_ns = Some(lateness_ns.max(self.remembered_ns()));
        self.trust_ns += Self::FULL_TRUST_NS / Self::ON_TIME_PARKS;
        if self.trust_ns >= Self::FULL_TRUST_NS {
            self.trust_ns = Self::FULL_TRUST_NS;
            self.quick_probes = Self::QUICK_PROBES;
            self.interval = Self::FIRST_INTERVAL;
        }
    }

    /// What is left of the longest lateness: it decays by an eighth per park.
    fn remembered_ns(&self) -> u64 {
        self.lateness_ns.map_or(0, |ns| ns - ns / 8)
    }
}

fn counted_ns(lateness_ns: u64) -> i64 {
    lateness_ns.clamp(1, LearnedParks::LATE_NS) as i64
}
