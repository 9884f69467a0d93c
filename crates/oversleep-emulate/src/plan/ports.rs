//! The clocks that the port of a program's runtime reads on the machine, by the table of runtimes' clocks.
//!
//! Where a port reads several clocks in place of one of Linux's, the functions of a program have to be told apart. For those
//! of `APART` that can be done; otherwise that clock stays as it is, and the report says so.

use oversleep_model::Source;
use oversleep_record::clock::Counts;
use oversleep_system::runtime_calls::{RuntimeClock, Version, clocks, clocks_of, find_clocks};
use oversleep_system::{ClockInfo, clocks as catalogue};

use super::recognised::Recognised;
use super::{ClockChoice, Described, LinuxClock, Plan, Stepped};

/// The runtime's name, and the function whose clock is told apart from others that read the same one of Linux.
const APART: [(&str, &str); 1] = [("python", "time.monotonic")];

/// A clock of a runtime on the machine, and the clock of Linux that the runtime reads here.
struct Port {
    clock: &'static RuntimeClock,
    linux: LinuxClock,
}

/// What a clock of Linux shows to programs of a runtime.
enum Shows {
    /// The machine's clock of that name.
    Clock(&'static str),
    /// This system's time: the port reads several clocks in its place, or one that can't be shown, for this reason.
    ThisSystems(Option<&'static str>),
}

fn info(os: &str, name: &str) -> Option<&'static ClockInfo> {
    catalogue::of(os).iter().find(|info| info.name == name)
}

impl Port {
    /// Where no source says what it reads on Linux, that is the clock of its kind.
    fn of(clock: &'static RuntimeClock, version: Option<&Version>) -> Port {
        let name = format!("{}@{}", clock.names[0], clock.family);
        let here = find_clocks("linux", &name, version);
        let named = here.first().and_then(|here| LinuxClock::ALL.iter().find(|linux| linux.name() == here.clock));
        let is_of_day = info(&clock.system, &clock.clock).is_some_and(|info| info.counts == Counts::TimeOfDay);
        let of_kind = if is_of_day { LinuxClock::Realtime } else { LinuxClock::Monotonic };
        Port { clock, linux: named.copied().unwrap_or(of_kind) }
    }

    fn call(&self) -> &'static str {
        info(&self.clock.system, &self.clock.clock).map_or("", |info| info.call)
    }
}

impl Plan {
    fn ports(&self, family: &str, version: Option<&Version>) -> Vec<Port> {
        match &*self.machine.os {
            "linux" => Vec::new(),
            os => clocks_of(os, family, version).map(|clock| Port::of(clock, version)).collect(),
        }
    }

    /// Whether the machine's clock moves in steps for a program that takes it for that one.
    fn is_stepped(&self, port: &Port) -> bool {
        let model = self.clock_named(&port.clock.clock).filter(|model| model.unavailable.is_none());
        model.is_some_and(|model| self.stepped(port.linux, model).is_some())
    }

    /// What that clock of Linux shows to programs with those clocks; `None` if no step of one would be seen.
    fn shows(&self, linux: LinuxClock, ports: &[Port]) -> Option<Shows> {
        let mut of_it = ports.iter().filter(|port| port.linux == linux);
        if !ports.iter().any(|port| port.linux == linux && self.is_stepped(port)) {
            return None;
        }
        if let Some(why) =
            ports.iter().filter(|port| port.linux == linux).find_map(|port| port.clock.not_emulated.as_deref())
        {
            return Some(Shows::ThisSystems(Some(why)));
        }
        let first = &*of_it.next()?.clock.clock;
        Some(match of_it.all(|port| port.clock.clock == first) {
            true => Shows::Clock(first),
            false => Shows::ThisSystems(None),
        })
    }

    /// The clocks that programs of that runtime see as its port reads them.
    pub(super) fn clocks_of_port(&self, family: &str, version: Option<&Version>) -> Vec<(LinuxClock, Option<String>)> {
        let ports = self.ports(family, version);
        let shown = |&linux: &LinuxClock| match self.shows(linux, &ports)? {
            Shows::Clock(name) => Some((linux, Some(name.to_owned()))),
            Shows::ThisSystems(_) => None,
        };
        LinuxClock::ALL.iter().filter_map(shown).collect()
    }

    /// A sentence about what the clocks of that runtime are on the machine, and which of them a program sees otherwise.
    pub(super) fn about_clocks(&self, one: &Recognised, is_adapted: bool) -> Option<Described> {
        let ports = self.ports(&one.runtime.name, one.version.as_ref());
        if ports.is_empty() || !(is_adapted || ports.iter().any(|port| self.is_stepped(port))) {
            return None;
        }
        let reads: Vec<String> =
            ports.iter().map(|port| format!("{} reads {}", port.clock.names[0], port.call())).collect();
        let apart: String = LinuxClock::ALL.iter().filter_map(|&linux| self.not_shown(linux, &ports)).collect();
        let mut sources: Vec<&str> = Vec::new();
        for port in &ports {
            if !sources.contains(&&*port.clock.source) {
                sources.push(&port.clock.source);
            }
        }
        let cited = |id: &&str| Source::find(id).map_or_else(|| (*id).to_owned(), Source::citation);
        Some(Described {
            runtime: one.name(),
            does: format!("{}, unless --clocks says otherwise{apart}", reads.join(", ")),
            source: sources.iter().map(cited).collect::<Vec<_>>().join("; "),
            evidence: one.evidence.clone(),
        })
    }

    /// The clock that some functions alone see.
    pub(super) fn apart(&self, family: &str, version: Option<&Version>) -> Option<Stepped> {
        let ports = self.ports(family, version);
        let is_apart = |port: &&Port| APART.contains(&(family, &*port.clock.names[0]));
        let port = ports.iter().find(is_apart)?;
        let Shows::ThisSystems(None) = self.shows(port.linux, &ports)? else { return None };
        let stepped = self.stepped(port.linux, self.clock_named(&port.clock.clock)?)?;
        Some(Stepped { is_apart: true, ..stepped })
    }

    /// What a program doesn't see as it is there, why, and what can be done.
    fn not_shown(&self, linux: LinuxClock, ports: &[Port]) -> Option<String> {
        let Shows::ThisSystems(why) = self.shows(linux, ports)? else { return None };
        let of_it: Vec<&Port> = ports.iter().filter(|port| port.linux == linux).collect();
        let is_apart = |port: &Port| why.is_none() && APART.contains(&(&*port.clock.family, &*port.clock.names[0]));
        let stepped = of_it.iter().find(|port| self.is_stepped(port) && !is_apart(port))?;
        let names: Vec<&str> = of_it.iter().map(|port| port.clock.names[0].as_str()).collect();
        let (names, name) = (names.join(" and "), &stepped.clock.names[0]);
        let option = format!("--clocks {}={}", linux.name(), stepped.clock.clock);
        Some(match why {
            Some(why) if of_it.len() > 1 => {
                format!("; {names} stay exact here: {why}, and {option} steps them alone")
            }
            Some(why) => format!("; {name} stays exact here: {why}, and {option} steps it alone"),
            None => {
                format!("; {name} stays exact here, because {names} read one clock of Linux: {option} steps them all")
            }
        })
    }

    /// The clocks that the ports of some runtimes read from another one of this machine.
    pub fn port_clocks(&self) -> Vec<LinuxClock> {
        let mut all: Vec<LinuxClock> = Vec::new();
        for clock in clocks().iter().filter(|clock| clock.system == self.machine.os) {
            let of_version = self.clocks_of_port(&clock.family, Some(&clock.from));
            all.extend(of_version.into_iter().map(|(linux, _)| linux));
        }
        all.sort_unstable_by_key(|linux| linux.id());
        all.dedup();
        all
    }

    /// The choice of those clocks.
    pub(super) fn chosen(&self, family: &str, version: Option<&Version>) -> Option<ClockChoice> {
        Some(self.clocks_of_port(family, version)).filter(|these| !these.is_empty()).map(ClockChoice::These)
    }
}
