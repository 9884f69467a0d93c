//! The machine that was measured. Nothing here names a person or a host.

use oversleep_record::FactName;

/// A description of the machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operating system: `linux`.
    pub os: &'static str,
    /// The processor's own name, or `unknown`.
    pub cpu: String,
    /// CPUs this process may use, ascending.
    pub cpus: Vec<u32>,
    /// Kernel, preemption, hypervisor and clocksource in one line.
    pub system: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Machine {
        let native = oversleep_native::here();
        let environment = native.environment();
        let fact = |name| environment.text(name).unwrap_or("unknown").to_owned();
        let mut cpus: Vec<u32> = native.cpus().iter().map(|cpu| cpu.number).collect();
        cpus.sort_unstable();
        let system = format!(
            "kernel {}, preemption {}, hypervisor {}, clocksource {}",
            fact(FactName::KernelRelease),
            fact(FactName::KernelPreemption),
            fact(FactName::VirtualisationHypervisor),
            fact(FactName::ClocksourceCurrent),
        );
        Machine { os: std::env::consts::OS, cpu: fact(FactName::CpuModel), cpus, system }
    }

    /// The CPU that both sides are pinned to: the last one, because interrupts and housekeeping usually run on the
    /// first.
    pub fn pin(&self) -> u32 {
        self.cpus.last().copied().unwrap_or(0)
    }

    /// The description in one line, with the current load average.
    pub fn line(&self) -> String {
        format!("{}; {} CPUs; {}; load average {}", self.cpu, self.cpus.len(), self.system, load_average())
    }

    /// A part of a file name: `linux-amd-epyc`.
    pub fn slug(&self) -> String {
        let cpu = self.cpu.to_lowercase();
        let words: Vec<&str> =
            cpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!("{}-{}", self.os, words.join("-"))
    }
}

/// The load averages over one, five and fifteen minutes; 1 is one busy CPU.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let figures: Vec<&str> = text.split_whitespace().take(3).collect();
    if figures.len() == 3 { figures.join(" ") } else { "unknown".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_is_a_file_name() {
        let cpu = "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz".to_owned();
        let machine = Machine { os: "linux", cpu, cpus: vec![0, 3], system: String::new() };
        assert_eq!(machine.slug(), "linux-intel-r-core-tm-i7-8650u-cpu-1-90ghz");
        assert_eq!(machine.pin(), 3);
    }
}
