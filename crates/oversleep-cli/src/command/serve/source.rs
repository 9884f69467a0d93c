//! What the samplers know, for those who ask.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use oversleep_lab::live::Live;
use oversleep_lab::share;
use oversleep_record::environment::FactValue;
use oversleep_record::finding::Finding;
use oversleep_record::{Environment, FactName, ResultFile};
use oversleep_sampler::Sampler;
use oversleep_serve::metrics::{Family, Snapshot};
use oversleep_serve::otlp::Times;
use oversleep_serve::routes::{self, Source};

use crate::command::live::lines::{Late, Line, Second};

/// Findings are drawn from a minute of samples on, and again when they are this old.
const FINDINGS_FROM: Duration = Duration::from_secs(60);
const FINDINGS_AGE: Duration = Duration::from_secs(300);
/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// All samplers.
pub struct Samplers {
    lives: Vec<Arc<Live>>,
    began: Instant,
    start_s: f64,
    /// What may be told of the machine: no names.
    shared: ResultFile,
    findings: Mutex<Option<(Instant, Vec<Finding>)>>,
    /// Held while a result is drawn up: each takes 0.4 MB meanwhile, however many ask for it at once.
    drawing_up: Mutex<()>,
}

impl Samplers {
    /// Those that count from now on.
    pub fn new(lives: Vec<Arc<Live>>) -> Samplers {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let file = Live::result_of(lives.iter().map(AsRef::as_ref));
        let findings = Mutex::new(None);
        let mut shared = share::share(&file);
        shared.environment = grouped(&file.environment, shared.environment);
        Samplers {
            lives,
            began: Instant::now(),
            start_s: now.as_secs_f64(),
            shared,
            findings,
            drawing_up: Mutex::new(()),
        }
    }

    fn file(&self) -> ResultFile {
        Live::result_of(self.lives.iter().map(AsRef::as_ref))
    }

    /// None until there are enough samples to conclude from.
    fn findings(&self) -> Option<Vec<Finding>> {
        if self.began.elapsed() < FINDINGS_FROM {
            return None;
        }
        let mut kept = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|(at, _)| at.elapsed() >= FINDINGS_AGE) {
            *kept = Some((Instant::now(), self.file().findings));
        }
        kept.as_ref().map(|(_, findings)| findings.clone())
    }

    /// The times of what is told now: of the wall clock, which goes on in suspend, and never before the start.
    pub fn times(&self) -> Times {
        let start_ns = (self.start_s * 1e9) as u64;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Times { start_ns, now_ns: start_ns.max(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)) }
    }
}

/// What is shared, with a number in place of what it leaves out of the kernel's release: two kernels that somebody built
/// differently are no group of hosts.
fn grouped(facts: &Environment, mut shared: Environment) -> Environment {
    const RELEASE: FactName = FactName::KernelRelease;
    if let (Some(whole), Some(kept)) = (facts.text(RELEASE), shared.text(RELEASE))
        && let Some(own) = whole.strip_prefix(kept).filter(|own| !own.is_empty())
    {
        let value = FactValue::Text(format!("{kept}+{:08x}", number_of(own)));
        shared.set(RELEASE, value, "the kernel's release, and a number for its own suffix");
    }
    shared
}

/// A number of a text that no version of this program changes: FNV-1a.
fn number_of(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Source for Samplers {
    fn families(&self) -> Vec<Family> {
        let findings = self.findings();
        let guards: Vec<MutexGuard<'_, Sampler>> = self.lives.iter().map(|live| live.sampler()).collect();
        let samplers: Vec<(Option<u32>, &Sampler)> =
            self.lives.iter().zip(&guards).map(|(live, guard)| (live.cpu(), &**guard)).collect();
        let ResultFile { environment, platform, .. } = &self.shared;
        let now = Snapshot {
            samplers: &samplers,
            os: &platform.os,
            facts: environment,
            findings: findings.as_deref(),
            version: VERSION,
        };
        now.families()
    }

    fn start_s(&self) -> f64 {
        self.start_s
    }

    fn result(&self) -> Vec<u8> {
        let _one_at_a_time = self.drawing_up.lock().unwrap_or_else(PoisonError::into_inner);
        self.file().write()
    }

    fn lines(&self) -> String {
        let now = self.began.elapsed();
        let of = |live: &Arc<Live>| {
            let sampler = live.sampler();
            let wait = &sampler.sampling().wait;
            let late = sampler.late_after(0).map(|late| Line::Late(Box::new(Late::of(late, wait, live.cpu()))));
            let lines = [Line::Second(Box::new(Second::of(&sampler, live.cpu(), now)))].into_iter().chain(late);
            lines.map(|line| line.text() + "\n").collect::<String>()
        };
        self.lives.iter().map(of).collect()
    }

    fn about(&self) -> String {
        let of = |live: &Arc<Live>| {
            let sampler = live.sampler();
            let sampling = sampler.sampling();
            format!("  {} for {} and pauses of about {}\n", sampling.wait, sampling.requested, sampling.pause)
        };
        let waits: String = self.lives.iter().map(of).collect();
        format!("oversleep {VERSION} samples how late waits end:\n{waits}It answers\n{}", routes::list())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_ones_own_differ_without_being_named() {
        let facts = |release: &str| {
            let mut facts = Environment::default();
            facts.set(FactName::KernelRelease, FactValue::Text(release.to_owned()), "test");
            facts
        };
        let of = |whole: &str, kept: &str| {
            let shared = grouped(&facts(whole), facts(kept));
            shared.text(FactName::KernelRelease).unwrap_or_default().to_owned()
        };
        assert_eq!(of("6.8.0-45-generic", "6.8.0-45-generic"), "6.8.0-45-generic");
        let [one, other] = ["6.8.0-acme-7", "6.8.0-acme-8"].map(|whole| of(whole, "6.8.0"));
        assert!(one.starts_with("6.8.0+") && one.len() == "6.8.0+".len() + 8 && one != other, "{one} {other}");
        assert_eq!(one, of("6.8.0-acme-7", "6.8.0"), "on each host");
    }
}
