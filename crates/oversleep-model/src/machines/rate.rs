//! The clock rate of a processor: the cost of reading a clock or of waking up is a number of its cycles.

use std::collections::BTreeSet;

use super::evidence;
use super::nature::{BUSES, RATE};
use super::profile::Profile;
use super::sources::BY_USER;
use super::value::{Stated, Value};

/// What takes cycles besides reads of clocks: interrupts, switches and calls. Leaving an idle state doesn't.
const SWITCHES: [&str; 6] =
    ["wake.cost", "wake.real-time", "wake.expiry-thread", "wake.handoff", "wake.yield", "wake.thread-start"];

impl Profile {
    /// Scales what reading clocks and waking up costs to a processor of that clock rate: the figures of kinds of machines
    /// from the rate of each source, the profile's own from the rate that it states, and all others from the usual rate
    /// of the sources, because they are numbers of cycles too. Figures that the user set stay, and those of reads of
    /// memory or over a bus, and of leaving idle states.
    ///
    /// # Errors
    /// No cost depends on it.
    pub(super) fn run_at(&mut self, rate: &Value) -> Result<(), String> {
        let Some(mhz) = rate.as_integer().map(|mhz| mhz as f64) else { return Ok(()) };
        let own = self.stated.get(RATE).and_then(|stated| stated.value.as_integer()).map(|own| own as f64);
        let (mut scaled, mut is_any, nature) = (Vec::new(), false, self.nature());
        for (path, stated) in self.stated.iter().filter(|(path, _)| path.starts_with("costs.")) {
            let at_rate = match (self.drawn.get(path), own) {
                (Some(kind), _) => {
                    is_any |= evidence::figure_at(kind, path, None, mhz)?.is_some();
                    evidence::figure_at(kind, path, self.without.as_deref(), mhz)?
                }
                (None, Some(own)) if stated.source_id != BY_USER && !nature.goes_over_a_bus(path) => {
                    Some(Stated { value: stated.value.cost_times(own / mhz), written: None, ..stated.clone() })
                }
                _ => None,
            };
            scaled.extend(at_rate.map(|at_rate| (path.clone(), at_rate)));
        }
        if scaled.is_empty() && !is_any {
            return Err(format!("of no clock of {} is it known how many cycles a read takes", self.name));
        }
        scaled.extend(self.scaled_with(&scaled, own, mhz)?);
        self.stated.extend(scaled);
        Ok(())
    }

    /// Scales what it has from the machine that it is based on, whose processor has another clock rate, but for figures of
    /// its own, whose paths are given.
    ///
    /// # Errors
    /// A figure can't be scaled.
    pub(super) fn runs_unlike(&mut self, base: Option<i64>, own: &BTreeSet<String>) -> Result<(), String> {
        let rate = self.stated.get(RATE).filter(|_| own.contains(RATE)).and_then(|stated| stated.value.as_integer());
        let (Some(base), Some(mhz)) = (base, rate) else { return Ok(()) };
        let inherited = |path: &str, _: &Stated| !own.contains(path);
        for (path, figure) in self.at_times(base as f64 / mhz as f64, inherited)? {
            let source = format!("{}; here by the clock rate of {mhz} MHz for {base}", figure.source);
            self.stated.insert(path, Stated { source, ..figure });
        }
        Ok(())
    }

    /// Of the figures that count cycles those that are chosen, with each multiplied.
    fn at_times(&self, times: f64, is_chosen: impl Fn(&str, &Stated) -> bool) -> Result<Vec<(String, Stated)>, String> {
        let nature = self.nature();
        let mut scaled = Vec::new();
        for (path, stated) in self.stated.iter().filter(|(path, stated)| is_chosen(path, stated)) {
            let value = match () {
                () if nature.reads_the_counter(path) => Some(stated.value.cost_times(times)),
                () if SWITCHES.contains(&path.as_str()) => stated.value.times(times)?,
                () => None,
            };
            scaled.extend(value.map(|value| (path.clone(), Stated { value, written: None, ..stated.clone() })));
        }
        Ok(scaled)
    }

    /// The other figures that count cycles, from the usual rate of the sources about such machines.
    fn scaled_with(
        &self,
        scaled: &[(String, Stated)],
        own: Option<f64>,
        mhz: f64,
    ) -> Result<Vec<(String, Stated)>, String> {
        let kinds: BTreeSet<&str> = self.drawn.values().copied().filter(|kind| !BUSES.contains(kind)).collect();
        let Some(usual) = own.or_else(|| evidence::usual_rate(&kinds)) else { return Ok(Vec::new()) };
        let is_left = |path: &str| scaled.iter().all(|(known, _)| known != path);
        self.at_times(usual / mhz, |path, stated| is_left(path) && stated.source_id != BY_USER)
    }
}

#[cfg(test)]
mod tests {
    use crate::machines::{describe, describe_without};

    fn cost(name: &str, without: Option<&str>, set: &[&str], clock: &str) -> (f64, String) {
        let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
        let described = describe_without(name, without, &set).unwrap();
        let path = format!("costs.{clock}");
        let figure = described.figures.into_iter().find(|figure| figure.path == path).unwrap();
        (figure.value.trim_end_matches("ns").parse().unwrap(), figure.source_id)
    }

    #[test]
    fn twice_the_clock_rate_halves_what_a_read_costs() {
        for (name, clock) in [
            ("linux-4-14", "other"),
            ("linux-4-14", "monotonic-raw"),
            ("linux-hz1000", "monotonic-syscall"),
            ("raspberry-pi-4", "other"),
            ("raspberry-pi-4", "thread-cputime"),
            ("linux-arm-32", "monotonic-syscall"),
            ("windows-11", "system-time-precise"),
        ] {
            let (slow, _) = cost(name, None, &["cpus.mhz=1500"], clock);
            let (fast, _) = cost(name, None, &["cpus.mhz=3000"], clock);
            assert!((slow / fast - 2.0).abs() < 0.01, "{name}: {slow} and {fast}");
        }
        let (stays, _) = cost("linux-4-14", None, &["costs.other=12ns", "cpus.mhz=1500"], "other");
        assert_eq!(stays, 12.0, "the user's figure");
        for (name, clock) in
            [("windows-10-hpet", "qpc"), ("windows-11", "get-tick-count"), ("linux-4-14-hpet", "other")]
        {
            let (usual, _) = cost(name, None, &[], clock);
            assert_eq!(cost(name, None, &["cpus.mhz=1500"], clock).0, usual, "{name}: {clock} counts no cycles");
        }
    }

    #[test]
    fn only_sources_that_give_their_clock_rate_count_and_one_can_be_left_out() {
        let (_, ids) = cost("linux-4-14", Some("ostack-553788"), &["cpus.mhz=3900"], "other");
        assert!(ids.contains("clockperf") && !ids.contains("ostack-553788") && !ids.contains("nba-10"), "{ids}");
    }

    #[test]
    fn where_few_sources_give_their_rate_a_figure_keeps_its_proportion_to_a_read_of_the_time() {
        let at = |mhz: u32, clock: &str| {
            let set = [format!("cpus.mhz={mhz}")];
            cost("linux-arm-32", Some("clockperf"), &set.each_ref().map(String::as_str), clock)
        };
        // 1604.9 of 794.4 ns on one machine, 2100 of 1100 on another.
        let ((slow, ids), (fast, _), (read, _)) =
            (at(700, "thread-cputime"), at(1400, "thread-cputime"), at(700, "other"));
        assert!((slow / fast - 2.0).abs() < 0.01 && (1.9..2.05).contains(&(slow / read)), "{slow}, {fast}, {read}");
        assert!(ids.contains("kemu-pi-2015") && ids.contains("go-cl-6820120") && !ids.contains("clockperf"), "{ids}");
    }

    #[test]
    fn a_rate_that_makes_no_sense_or_changes_nothing_is_refused() {
        let refused = |name: &str, change: &str| describe(name, &[change.to_owned()]).unwrap_err().to_string();
        assert!(refused("linux-4-14", "cpus.mhz=0").contains("1 to 100,000 MHz"));
        assert!(refused("wine-8", "mhz=3200").contains("how many cycles"), "{}", refused("wine-8", "mhz=3200"));
    }
}
