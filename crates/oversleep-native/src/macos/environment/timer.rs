//! Timers: the timebase, and the kernel's coalescing.

use oversleep_record::environment::FactValue;
use oversleep_record::{Nanos, Unavailable};

use super::{Answer, Entry, text};
use crate::coalescing::Share;
use crate::macos::tunables;
use crate::macos::{os, sysctl};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    TimerTimebase: "mach_timebase_info" => || Ok(FactValue::Text(os::timebase().to_string())),
    TimerTimebaseHz: "mach_timebase_info" =>
        || i64::try_from(os::timebase().hz()).map(FactValue::Integer).map_err(|_| nonsense("timebase")),
    TimerCoalescing: "sysctl kern.timer.coalescing_enabled" =>
        || sysctl::integer("kern.timer.coalescing_enabled").map(|on| FactValue::Flag(on != 0)),
    TimerTiers: "sysctl kern.timer_coalesce_*" => tier_list,
    TimerLatencyTier: "thread_policy_get(THREAD_LATENCY_QOS_POLICY)" => || tunables::tier().map(text),
};

fn nonsense(what: &str) -> Unavailable {
    Unavailable::Nonsense { what: what.to_owned() }
}

fn tier_list() -> Answer {
    const EXAMPLE: Nanos = Nanos(1_000_000);
    let sentence =
        |(tier, share): (&str, Share)| format!("{tier}: {share}; {EXAMPLE} ends up to {} late", share.of(EXAMPLE));
    Ok(FactValue::List(tiers()?.into_iter().map(sentence).collect()))
}

/// The kernel's parameters by tier.
///
/// # Errors
/// The reason if they aren't readable.
pub fn tiers() -> Result<Vec<(&'static str, Share)>, Unavailable> {
    const TIERS: [(&str, &str); 7] = [
        ("no tier", "ts"),
        ("tier-0", "tier0"),
        ("tier-1", "tier1"),
        ("tier-2", "tier2"),
        ("tier-3", "tier3"),
        ("tier-4", "tier4"),
        ("tier-5", "tier5"),
    ];
    let share = |(tier, name): (&'static str, &str)| {
        let shift = sysctl::integer(&format!("kern.timer_coalesce_{name}_scale"))?;
        // The name says ns, but the value is in µs: the kernel's handler is sysctl_timer_user_us_kernel_abstime.
        let cap_us = sysctl::integer(&format!("kern.timer_coalesce_{name}_ns_max"))?;
        let shift = i32::try_from(shift).map_err(|_| nonsense("a shift of more than 32 bits"))?;
        let cap = cap_us.checked_mul(1_000).map(Nanos).ok_or_else(|| nonsense("a cap of more than centuries"))?;
        Ok((tier, Share { shift, cap }))
    };
    TIERS.into_iter().map(share).collect()
}
