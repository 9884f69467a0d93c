//! What the version of a system decides: the fair scheduler of Linux, and the frequency of Windows' performance counter. A
//! profile states its version alone, and a machine whose version is changed follows it.

use super::entries::cited;
use super::evidence;
use super::parameters::parameter_of;
use super::profile::Profile;
use super::sources::BY_USER;
use super::value::{Stated, Value};

/// The version of Linux.
pub(super) const RELEASE: &str = "facts.kernel.release";
const BUILD: &str = "facts.os.build";
const HYPERVISOR: &str = "facts.virtualisation.hypervisor";
const KIND: &str = "scheduler.kind";
const COUNTER: &str = "timers.counter";
const TSC: &str = "frequencies.tsc";

/// The figures on which others depend.
pub(super) const DECIDE: [&str; 6] = [RELEASE, BUILD, HYPERVISOR, KIND, COUNTER, TSC];

/// The Linux version since which the timer wheel keeps timeouts the coarser the longer they are, and adds a tick so that
/// none ends early: <https://github.com/torvalds/linux/commit/500462a9de65>.
pub(super) const STEPPED_WHEEL: (u32, u32) = (4, 8);
/// The Linux version since which a real-time thread has no slack of its own. Before, the calls that wait for a time took it
/// as none, except futex, which set its timer with it (futex_setup_timer in kernel/futex.c):
/// <https://github.com/torvalds/linux/commit/ed4fb6d7ef68>. Stable 6.1.132 and 6.6.84 have it, too.
pub(super) const LOCKS_HEED_POLICY: (u32, u32) = (6, 12);
/// The Linux version since which a thread that yields under EEVDF gives up what is left of its slice: yield_task_fair in
/// kernel/sched/fair.c.
pub(super) const YIELD_FORFEITS: (u32, u32) = (6, 18);

const FAIR_SOURCE: &str = "linux-fair-c";
/// Figures of the scheduler, each for one CPU.
const FAIR_FIGURES: [&str; 3] = ["scheduler.slice", "scheduler.latency", "scheduler.wakeup-granularity"];

/// Linux's fair scheduler of a range of versions.
struct Fair {
    since: (u32, u32),
    kind: &'static str,
    /// In the order of [`FAIR_FIGURES`]; empty for none.
    figures: [&'static str; 3],
    says: &'static str,
}

/// From the newest to the oldest.
static FAIR: [Fair; 3] = [
    Fair {
        since: (6, 15),
        kind: "eevdf",
        figures: ["700us", "", ""],
        says: "since 6.15: sysctl_sched_base_slice 0.7 ms times 1 + log2(CPUs, at most 8); RUN_TO_PARITY, PLACE_LAG, \
               DELAY_DEQUEUE; https://docs.kernel.org/scheduler/sched-eevdf.html",
    },
    Fair {
        since: (6, 6),
        kind: "eevdf",
        figures: ["750us", "", ""],
        says: "6.6 to 6.14: sysctl_sched_base_slice 0.75 ms times 1 + log2(CPUs, at most 8); RUN_TO_PARITY, PLACE_LAG; \
               https://docs.kernel.org/scheduler/sched-eevdf.html",
    },
    Fair {
        since: (2, 6),
        kind: "cfs",
        figures: ["750us", "6ms", "1ms"],
        says: "before 6.6: sched_latency 6 ms, min_granularity 0.75 ms and wakeup_granularity 1 ms, each times 1 + \
               log2(CPUs, at most 8); https://docs.kernel.org/scheduler/sched-design-CFS.html",
    },
];

/// How often counters count in a second that are read over a bus.
pub(super) const HPET_HZ: i64 = 14_318_180;
pub(super) const ACPI_PM_HZ: i64 = 3_579_545;

const COUNTER_SOURCE: &str = "ms-qpc";
/// The build of Windows 10 1809, from which the counter has the same frequency on every processor of x86.
const FIXED_COUNTER: i64 = 17_763;
/// The frequency since then, and of a guest whose hypervisor has a reference time.
const FIXED_HZ: i64 = 10_000_000;

/// The two first numbers of a kernel's version.
pub(super) fn release(text: &str) -> Option<(u32, u32)> {
    let numbers = numbers(text);
    Some((*numbers.first()?, numbers.get(1).copied().unwrap_or(0)))
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(['.', '-']).map_while(|number| number.parse().ok()).collect()
}

/// Whether a kernel of that version is older than what came with a version of Linux, written as `Linux 5.11`.
pub(super) fn is_older(release: &str, since: &str) -> bool {
    let (own, needs) = (numbers(release), since.strip_prefix("Linux ").map(numbers));
    !own.is_empty() && needs.is_some_and(|needs| own < needs)
}

impl Profile {
    /// Sets the figures that its version decides, except those that the user set.
    ///
    /// # Errors
    /// The table of versions is wrong.
    pub(super) fn follow_version(&mut self) -> Result<(), String> {
        match self.word("machine.os") {
            "linux" => self.follow_release(),
            "windows" => self.follow_build(),
            _ => Ok(()),
        }
    }

    fn follow_release(&mut self) -> Result<(), String> {
        let is_left_out = self.without.as_deref() == Some(FAIR_SOURCE);
        let (Some(release), false) = (release(self.word(RELEASE)), is_left_out) else { return Ok(()) };
        let chosen = self.word(KIND).to_owned();
        // Other kinds have no versions: WSL 1's threads are scheduled by Windows.
        if !["", "eevdf", "cfs"].contains(&chosen.as_str()) {
            return Ok(());
        }
        let is_chosen = |fair: &&Fair| !self.is_set(KIND) || fair.kind == chosen;
        let Some(fair) = FAIR.iter().filter(is_chosen).find(|fair| fair.since <= release || self.is_set(KIND)) else {
            return Ok(());
        };
        self.state(KIND, fair.kind, FAIR_SOURCE, fair.says)?;
        for (path, text) in FAIR_FIGURES.into_iter().zip(fair.figures) {
            match text {
                "" if !self.is_set(path) => drop(self.stated.remove(path)),
                "" => {}
                _ => self.state(path, text, FAIR_SOURCE, fair.says)?,
            }
        }
        Ok(())
    }

    fn follow_build(&mut self) -> Result<(), String> {
        let integer = |path: &str| self.stated.get(path)?.value.as_integer();
        let build = self.word(BUILD).parse().ok().or(integer(BUILD));
        let (Some(build), counter) = (build, self.word(COUNTER).to_owned()) else { return Ok(()) };
        // Wine's counter has a frequency of its own, whatever version of Windows it shows.
        if matches!(self.stated.get("timers.tick-ends-waits").map(|stated| &stated.value), Some(Value::Flag(false))) {
            return Ok(());
        }
        let (hz, says) = match (counter.as_str(), self.word(HYPERVISOR)) {
            ("hpet", _) => (HPET_HZ, "the HPET"),
            ("acpi-pm", _) => (ACPI_PM_HZ, "the power management timer of ACPI"),
            ("tsc", "hyper-v") => (FIXED_HZ, "10 MHz under a hypervisor that has a reference time"),
            ("tsc", _) if build >= FIXED_COUNTER => (FIXED_HZ, "always 10 MHz in some newer versions of Windows"),
            ("tsc", _) => match integer(TSC) {
                Some(tsc) => {
                    (tsc / 1_024, "in some older versions of Windows, the frequency of the TSC divided by 1024")
                }
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.state("frequencies.qpc", &hz.to_string(), COUNTER_SOURCE, says)?;
        // Both are read over a bus, and so is what reads them.
        if counter != "tsc" && !self.is_set("costs.qpc") {
            let kind = "windows-hpet";
            let without = self.without.clone();
            for (path, figure) in evidence::figures_of(kind, without.as_deref())? {
                self.drawn.extend(evidence::known(kind).map(|kind| (path.clone(), kind)));
                self.stated.insert(path, figure);
            }
        }
        Ok(())
    }

    fn is_set(&self, path: &str) -> bool {
        self.stated.get(path).is_some_and(|stated| stated.source_id == BY_USER)
    }

    fn state(&mut self, path: &str, text: &str, source_id: &str, says: &str) -> Result<(), String> {
        if self.is_set(path) {
            return Ok(());
        }
        let parameter = parameter_of(path).ok_or_else(|| format!("there is no figure '{path}'"))?;
        let stated = Stated {
            value: parameter.kind.read(text)?,
            written: Some(text.to_owned()),
            source_id: source_id.to_owned(),
            source: cited(source_id, says)?,
        };
        self.stated.insert(path.to_owned(), stated);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::describe;

    fn figure(name: &str, set: &[&str], path: &str) -> Option<String> {
        let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
        let described = describe(name, &set).unwrap_or_else(|error| panic!("{name}: {error}"));
        described.figures.into_iter().find(|figure| figure.path == path).map(|figure| figure.value)
    }

    #[test]
    fn a_kernel_has_the_scheduler_of_its_version() {
        let of = |name: &str, set: &[&str]| {
            let figure = |path| figure(name, set, path).unwrap_or_default();
            [KIND, "scheduler.slice", "scheduler.latency"].map(figure).join(" ")
        };
        assert_eq!(of("linux-hz250", &[]), "eevdf 700us ");
        assert_eq!(of("linux-hz1000", &[]), "eevdf 750us ");
        assert_eq!(of("linux-4", &[]), "cfs 750us 6ms");
        assert_eq!(of("linux-arm-32", &[]), "cfs 750us 6ms", "3.10 is older than the machine it is based on");
        assert_eq!(of("wsl1", &[]), "round-robin 31.25ms ");
        assert_eq!(of("linux-hz250", &["facts.kernel.release=5.15.0-91-generic"]), "cfs 750us 6ms");
        assert_eq!(of("wsl2", &["facts.kernel.release=6.6.36"]), "eevdf 750us ");
        assert_eq!(of("linux-hz250", &["scheduler.slice=3ms", "facts.kernel.release=5.15"]), "cfs 3ms 6ms");
        assert_eq!(of("linux-hz250", &["scheduler.kind=cfs"]), "cfs 750us 6ms", "a user's own choice of a scheduler");
        assert_eq!(of("linux-hz250", &["scheduler.kind=round-robin"]), "round-robin 700us ");
    }

    #[test]
    fn the_performance_counter_has_the_frequency_of_its_version_and_its_source() {
        let hz = |name: &str, set: &[&str]| figure(name, set, "frequencies.qpc").unwrap();
        assert_eq!(hz("windows-11", &[]), "10000000");
        assert_eq!(hz("windows-10-1909", &[]), "10000000");
        assert_eq!(hz("windows-10-1909", &["facts.os.build=17134"]), "2876910", "1803, a processor of 2.945956 GHz");
        assert_eq!(hz("windows-10-1607", &[]), "2876910");
        assert_eq!(hz("windows-server-2019", &[]), "10000000");
        assert_eq!(hz("windows-7", &[]), "2876910");
        assert_eq!(hz("windows-7", &["frequencies.tsc=3200000000"]), "3125000");
        assert_eq!(hz("windows-7", &["facts.virtualisation.hypervisor=hyper-v"]), "10000000");
        assert_eq!(hz("windows-xp", &[]), "3579545");
        assert_eq!(hz("windows-10-hpet", &[]), "14318180");
        assert_eq!(hz("windows-11", &["frequencies.qpc=24000000", "facts.os.build=7601"]), "24000000");
        let cost = |set: &[&str]| figure("windows-11", set, "costs.qpc").unwrap();
        assert_eq!(cost(&["timers.counter=hpet"]), figure("windows-10-hpet", &[], "costs.qpc").unwrap());
        assert_ne!(cost(&["timers.counter=hpet"]), cost(&[]));
        assert_eq!(cost(&["costs.qpc=9ns", "timers.counter=hpet"]), "9ns");
    }

    #[test]
    fn versions_are_read_from_what_systems_show() {
        assert_eq!(release("5.10.102.1-microsoft-standard-WSL2"), Some((5, 10)));
        assert_eq!(release("6.14"), Some((6, 14)));
        assert_eq!((release("6-rc1"), release("unknown")), (Some((6, 0)), None));
        let older = |own: &str| is_older(own, "Linux 5.11");
        assert_eq!(["5.10.102.1", "5.11.0", "5.11", "6.1", ""].map(older), [true, false, false, false, false]);
        assert!(is_older("2.6.32-5-amd64", "Linux 2.6.39") && !is_older("4.4", "Windows 8") && !is_older("4.4", ""));
    }
}
