//! Modelled clocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use oversleep_record::clock::Epoch;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Clock, ClockInfo};

use super::kernel::Kernel;
use super::machine::{ClockModel, ClockSource, Machine};
use super::rules;

struct SimClock {
    model: ClockModel,
    kernel: Arc<Kernel>,
    origin: Nanos,
    /// Raw value at the epoch's zero: the distance from 1601 to 1970 doesn't fit a span.
    raw_origin: u64,
    /// The bits of the raw value.
    mask: u64,
    known: Known,
}

/// A clock's last value and its validity, because a coarse clock is read millions of times between two steps. Only the
/// running thread reads clocks.
#[derive(Default)]
struct Known {
    raw: AtomicU64,
    from: AtomicI64,
    until: AtomicI64,
    /// The count of changes of the interrupt grid at that time. A later change invalidates the value, too.
    grid_changes: AtomicU64,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Clock>> {
    let clock = |model: &ClockModel| -> Box<dyn Clock> {
        let since_epoch = if model.info.epoch == Epoch::Windows { WINDOWS_TO_UNIX_S } else { 0 };
        Box::new(SimClock {
            origin: origin(model.info.epoch),
            raw_origin: since_epoch.wrapping_mul(model.frequency_hz),
            mask: if model.info.bits < 64 { (1 << model.info.bits) - 1 } else { u64::MAX },
            model: model.clone(),
            kernel: Arc::clone(kernel),
            known: Known::default(),
        })
    };
    machine.clocks.iter().map(clock).collect()
}

impl SimClock {
    /// Its raw value when its source has this value.
    fn reading(&self, followed: Nanos) -> u64 {
        let model = &self.model;
        let drift = match model.drift_ppm {
            0 => Nanos::ZERO,
            ppm => Nanos((i128::from(followed.0) * i128::from(ppm) / 1_000_000) as i64),
        };
        let skew = if model.skew_ns != Nanos::ZERO && self.kernel.on_odd_cpu() { model.skew_ns } else { Nanos::ZERO };
        let stepped = (followed + drift).round_down_to(model.step_ns);
        let ns = (self.origin + stepped - skew).max(Nanos::ZERO).0.unsigned_abs();
        let raw = match model.frequency_hz {
            1_000_000_000 => ns,
            // Seconds and the remainder separately, so that no product exceeds 64 bits for a counter of up to 10 GHz.
            hz => ns / 1_000_000_000 * hz + ns % 1_000_000_000 * hz / 1_000_000_000,
        };
        raw.wrapping_add(self.raw_origin) & self.mask
    }

    /// Its raw value now.
    fn raw_now(&self) -> u64 {
        if let Some((raw, _)) = self.known() {
            return raw;
        }
        let (followed, now) = (self.followed(), self.kernel.now());
        let raw = self.reading(followed);
        let (from, until) = match self.model.source {
            // The value depends on the CPU too.
            _ if self.model.skew_ns != Nanos::ZERO => return raw,
            ClockSource::Elapsed if self.model.drift_ppm == 0 && self.model.step_ns > Nanos(1) => {
                let from = now.round_down_to(self.model.step_ns);
                (from, from + self.model.step_ns)
            }
            ClockSource::LastInterrupt | ClockSource::DefaultTick => {
                (followed, followed + self.kernel.hardware_grid.grid().period)
            }
            _ => return raw,
        };
        self.known.raw.store(raw, Ordering::Relaxed);
        self.known.from.store(from.0, Ordering::Relaxed);
        self.known.until.store(until.0, Ordering::Relaxed);
        self.known.grid_changes.store(self.kernel.hardware_grid.changes(), Ordering::Relaxed);
        raw
    }

    /// Its raw value now and for how long it holds, if that is known already.
    fn known(&self) -> Option<(u64, Nanos)> {
        let (known, now) = (&self.known, self.kernel.now().0);
        let until = known.until.load(Ordering::Relaxed);
        let holds = known.from.load(Ordering::Relaxed) <= now
            && now < until
            && known.grid_changes.load(Ordering::Relaxed) == self.kernel.hardware_grid.changes();
        holds.then(|| (known.raw.load(Ordering::Relaxed), Nanos(until)))
    }

    /// The number of reads, up to `reads_max`, that are certain to end before that moment if nothing else happens.
    fn reads_before(&self, until: Nanos, reads_max: u64) -> u64 {
        let cost_ps = self.model.read_cost_ps.max(1);
        let left = until.min(self.kernel.alone_until()) - self.kernel.now() - Nanos(1);
        let left_ps = u64::try_from(left.0).unwrap_or(0).saturating_mul(1_000);
        if cost_ps.saturating_mul(reads_max.saturating_add(1)) <= left_ps {
            return reads_max;
        }
        (left_ps / cost_ps).saturating_sub(1).min(reads_max)
    }

    /// The virtual time that it follows.
    fn followed(&self) -> Nanos {
        match self.model.source {
            ClockSource::Elapsed => self.kernel.now(),
            ClockSource::LastInterrupt | ClockSource::DefaultTick => {
                self.kernel.hardware_grid.grid().at_or_before(self.kernel.now())
            }
            ClockSource::ThreadCpu => self.kernel.cpu_time(),
            ClockSource::ProcessCpu => self.kernel.process_cpu_time(),
        }
    }
}

/// Modelled time begins at this moment after each epoch, so that values look like those of a machine that has been up for
/// a while, and a skewed clock stays above zero.
fn origin(epoch: Epoch) -> Nanos {
    match epoch {
        Epoch::Boot | Epoch::Processor => Nanos::from_secs(1_000),
        // 2026-01-01 00:00 UTC, and TAI 37 s ahead of it.
        Epoch::Unix => Nanos::from_secs(1_767_225_600),
        Epoch::Tai => Nanos::from_secs(1_767_225_637),
        // The distance from 1601 to 1970 is added to the raw value, because it doesn't fit a span.
        Epoch::Windows => Nanos::from_secs(1_767_225_600),
        Epoch::Process | Epoch::Thread => Nanos::ZERO,
    }
}

/// From 1601-01-01 to 1970-01-01, in s.
const WINDOWS_TO_UNIX_S: u64 = 11_644_473_600;

impl Clock for SimClock {
    fn info(&self) -> &ClockInfo {
        &self.model.info
    }

    fn available(&self) -> Result<(), Unavailable> {
        self.model.unavailable.clone().map_or(Ok(()), Err)
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        Some(self.model.frequency_hz)
    }

    fn stated_step_ns(&self) -> Option<Nanos> {
        Some(match self.model.source {
            // The period in effect now.
            ClockSource::LastInterrupt => self.kernel.hardware_grid.grid().period.max(self.model.step_ns),
            _ => self.model.step_ns,
        })
    }

    fn rule(&self) -> Option<String> {
        let interrupt = self.kernel.tick().map(|_| self.kernel.hardware_grid.grid().period);
        Some(rules::of_clock(&self.model, interrupt, self.kernel.timing().wheel_ns))
    }

    fn read(&self) -> u64 {
        self.kernel.spend_ps(self.model.read_cost_ps);
        self.raw_now()
    }

    fn poll(&self, seen: u64, reads_max: u64) -> u64 {
        let mut left = reads_max;
        while left > 0 {
            let same = match self.known() {
                Some((raw, until)) if raw == seen => self.reads_before(until, left),
                _ => 0,
            };
            if same > 0 {
                self.kernel.spend_ps(self.model.read_cost_ps.saturating_mul(same));
                left -= same;
                continue;
            }
            let raw = self.read();
            if raw != seen {
                return raw;
            }
            left -= 1;
        }
        seen
    }

    fn read_batch(&self, count: u64) {
        self.kernel.spend_ps(self.model.read_cost_ps.saturating_mul(count));
    }

    fn read_into(&self, out: &mut [u64]) {
        let mut done = 0;
        while done < out.len() {
            let rest = &mut out[done..];
            let (raw, same) = match self.known() {
                Some((raw, until)) => (raw, self.reads_before(until, rest.len() as u64)),
                None => (0, 0),
            };
            if same > 0 {
                self.kernel.spend_ps(self.model.read_cost_ps.saturating_mul(same));
                rest[..same as usize].fill(raw);
                done += same as usize;
            } else {
                rest[0] = self.read();
                done += 1;
            }
        }
    }
}
