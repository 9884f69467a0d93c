//! One word for each value of the record's enumerations. The digests contain them, so they stay the same even if the
//! values are renamed.

use oversleep_explain::verdicts::Validity;
use oversleep_record::Unavailable;
use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::conditions::Setting;
use oversleep_record::file::{Chosen, Completion};
use oversleep_record::finding::{Severity, Verdict};
use oversleep_record::processor::ThermalPressure;
use oversleep_record::series::{Pace, Quantity, Status, Unit};

pub fn completion(completion: Completion) -> &'static str {
    match completion {
        Completion::Complete => "complete",
        Completion::Interrupted => "interrupted",
    }
}

pub fn chosen(chosen: Chosen) -> &'static str {
    match chosen {
        Chosen::DeadlineClock => "of-the-deadlines",
        Chosen::ByUser => "asked-for",
    }
}

/// The kind of a reason; its words are prose.
pub fn unavailable(reason: &Unavailable) -> &'static str {
    match reason {
        Unavailable::NotOnThisPlatform => "not-on-this-platform",
        Unavailable::TooOld { .. } => "too-old",
        Unavailable::NotPermitted { .. } => "not-permitted",
        Unavailable::NoHardware { .. } => "no-hardware",
        Unavailable::Missing { .. } => "missing",
        Unavailable::Failed { .. } => "failed",
        Unavailable::Nonsense { .. } => "nonsense",
        Unavailable::NotMeasured => "not-asked",
    }
}

pub fn counts(counts: Counts) -> &'static str {
    match counts {
        Counts::ElapsedTime => "elapsed-time",
        Counts::TimeOfDay => "time-of-day",
        Counts::ProcessCpuTime => "process-cpu-time",
        Counts::ThreadCpuTime => "thread-cpu-time",
    }
}

pub fn epoch(epoch: Epoch) -> &'static str {
    match epoch {
        Epoch::Boot => "boot",
        Epoch::Unix => "unix",
        Epoch::Tai => "tai",
        Epoch::Windows => "windows",
        Epoch::Process => "process",
        Epoch::Thread => "thread",
        Epoch::Processor => "processor",
    }
}

pub fn across_suspend(across: AcrossSuspend) -> &'static str {
    match across {
        AcrossSuspend::Continues => "continues",
        AcrossSuspend::Stops => "stops",
        AcrossSuspend::Unspecified => "unspecified",
    }
}

pub fn validity(validity: Validity) -> &'static str {
    match validity {
        Validity::Valid => "valid",
        Validity::Unproven => "unproven",
        Validity::Invalid => "invalid",
    }
}

pub fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Lateness => "lateness",
        Quantity::Duration => "elapsed",
        Quantity::Cost => "cost",
        Quantity::Step => "step",
        Quantity::HandoffLatency => "handoff-latency",
        Quantity::ForkJoin => "fork-join",
        Quantity::WakeupsPerSecond => "wakeups-per-second",
        Quantity::GenerationsPerSecond => "generations-per-second",
        Quantity::StatedResolution => "stated-resolution",
        Quantity::IdleResidency => "idle-residency",
        Quantity::Power => "power",
        Quantity::ItemsPerSecond => "items-per-second",
        Quantity::ItemLatency => "item-latency",
        Quantity::Period => "period",
        Quantity::WakeUpLatency => "wake-up-latency",
    }
}

pub fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "ns",
        Unit::Ps => "ps",
        Unit::Hz => "hz",
        Unit::Mw => "mw",
    }
}

pub fn pace(pace: Pace) -> &'static str {
    match pace {
        Pace::BackToBack => "back-to-back",
        Pace::Periodic => "periodic",
        Pace::RandomPhase => "random-phase",
    }
}

pub fn status(status: &Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Partial => "partial",
        Status::Unavailable { reason } => unavailable(reason),
    }
}

/// A setting with its number: `1000ns`, `on`, `cpus:0,1`, `fifo:80`.
pub fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Nanos(span) => format!("{}ns", span.0),
        Setting::Flag(flag) => if *flag { "on" } else { "off" }.to_owned(),
        Setting::Cpus(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("cpus:{}", cpus.join(","))
        }
        Setting::Policy { policy, priority } => format!("{policy}:{priority}"),
    }
}

pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "fault",
        Severity::Cost => "cost",
        Severity::Note => "note",
    }
}

pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Found => "found",
        Verdict::NotFound => "absent",
        Verdict::NotEnoughData => "not-enough-data",
        Verdict::TooDisturbed => "too-disturbed",
    }
}

pub fn pressure(pressure: ThermalPressure) -> &'static str {
    match pressure {
        ThermalPressure::Nominal => "nominal",
        ThermalPressure::Moderate => "moderate",
        ThermalPressure::Heavy => "heavy",
        ThermalPressure::Trapping => "trapping",
        ThermalPressure::Sleeping => "sleeping",
    }
}
