//! What the figures were taken on. Nothing that names a person or a host.

use oversleep_record::FactName;

/// The machine at one moment.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operating system: `linux`.
    pub os: &'static str,
    /// Processor as it calls itself, or that it doesn't say.
    pub cpu: String,
    /// CPUs this process may use, ascending.
    pub cpus: Vec<u32>,
    /// The rest in one line: kernel, preemption, hypervisor, clocksource.
    pub system: String,
}

impl Machine {
    /// This one.
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

    /// The CPU both sides are kept on: the last one, because interrupts and housekeeping gather on the first.
    pub fn pin(&self) -> u32 {
        self.cpus.last().copied().unwrap_or(0)
    }

    /// In one line, with the load average as it stands.
    pub fn line(&self) -> String {
        format!("{}; {} CPUs; {}; load average {}", self.cpu, self.cpus.len(), self.system, load_average())
    }

    /// For the name of a file: `linux-amd-epyc`.
    pub fn slug(&self) -> String {
        let cpu = self.cpu.to_lowercase();
        let words: Vec<&str> =
            cpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!("{}-{}", self.os, words.join("-"))
    }
}

/// The last one, five and fifteen minutes'; 1 is one busy CPU.
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
