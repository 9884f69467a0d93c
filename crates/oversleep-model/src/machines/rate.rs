//! The clock rate of a processor: the cost of reading a clock is a number of its cycles.

use std::collections::BTreeSet;

use oversleep_system::Follows;

use super::evidence;
use super::profile::Profile;
use super::sources::BY_USER;
use super::value::{Stated, Value};
use crate::sim::systems::SYSTEMS;

/// The parameter that states it, in MHz.
pub(super) const RATE: &str = "cpus.mhz";

/// The kinds of machines whose clocks are read over a bus, whatever the processor's rate.
const BUSES: [&str; 3] = ["clocksource-hpet", "clocksource-acpi-pm", "windows-hpet"];

impl Profile {
    /// Scales what reading clocks costs to a processor of that clock rate: the figures of kinds of machines from the rate
    /// of each source, the profile's own from the rate that it states, and all others from the usual rate of
    /// the sources, because they are numbers of cycles too. Figures that the user set stay, and those of reads of memory or
    /// over a bus.
    ///
    /// # Errors
    /// No cost depends on it.
    pub(super) fn run_at(&mut self, rate: &Value) -> Result<(), String> {
        let Some(mhz) = rate.as_integer().map(|mhz| mhz as f64) else { return Ok(()) };
        let own = self.stated.get(RATE).and_then(|stated| stated.value.as_integer()).map(|own| own as f64);
        let (mut scaled, mut is_any) = (Vec::new(), false);
        for (path, stated) in self.stated.iter().filter(|(path, _)| path.starts_with("costs.")) {
            let at_rate = match (self.drawn.get(path), own) {
                (Some(kind), _) => {
                    is_any |= evidence::figure_at(kind, path, None, mhz)?.is_some();
                    evidence::figure_at(kind, path, self.without.as_deref(), mhz)?
                }
                (None, Some(own)) if stated.source_id != BY_USER => {
                    Some(Stated { value: stated.value.cost_times(own / mhz), written: None, ..stated.clone() })
                }
                _ => None,
            };
            scaled.extend(at_rate.map(|at_rate| (path.clone(), at_rate)));
        }
        if scaled.is_empty() && !is_any {
            return Err(format!("of no clock of {} is it known how many cycles a read takes", self.name));
        }
        scaled.extend(self.scaled_with(&scaled, own, mhz));
        self.stated.extend(scaled);
        Ok(())
    }

    /// The other costs, from the usual rate of the sources about such machines.
    fn scaled_with(&self, scaled: &[(String, Stated)], own: Option<f64>, mhz: f64) -> Vec<(String, Stated)> {
        let kinds: BTreeSet<&str> = self.drawn.values().copied().filter(|kind| !BUSES.contains(kind)).collect();
        let Some(usual) = own.or_else(|| evidence::usual_rate(&kinds)) else { return Vec::new() };
        let os = self.word("machine.os");
        let clock = |name: &str| SYSTEMS.iter().find(|system| system.os == os)?.clock(name);
        let counts_cycles = |path: &str| {
            let is_in_memory = |name| clock(name).is_some_and(|info| info.follows != Follows::Time);
            let goes_over_a_bus = self.drawn.get(path).is_some_and(|kind| BUSES.contains(kind));
            path.strip_prefix("costs.").is_some_and(|name| !is_in_memory(name)) && !goes_over_a_bus
        };
        let is_left = |path: &str| scaled.iter().all(|(known, _)| known != path);
        let scale =
            |stated: &Stated| Stated { value: stated.value.cost_times(usual / mhz), written: None, ..stated.clone() };
        let others = self
            .stated
            .iter()
            .filter(|(path, stated)| counts_cycles(path) && is_left(path) && stated.source_id != BY_USER);
        others.map(|(path, stated)| (path.clone(), scale(stated))).collect()
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
        assert!(
            refused("macos-14-m1", "mhz=3200").contains("how many cycles"),
            "{}",
            refused("macos-14-m1", "mhz=3200")
        );
    }
}
