//! What the counters of this system don't tell.

use oversleep_record::Disturbance;

/// In a sentence, what of a late wait's causes can't be told here; `None` if nothing is missing.
pub fn lacking(totals: &Disturbance) -> Option<String> {
    let known = [
        ("steal", totals.steal_ns.is_some()),
        ("CPU pressure", totals.cpu_pressure_ns.is_some()),
        ("throttling", totals.throttled_ns.is_some()),
        ("how long a thread waits for a CPU", totals.run_delay_ns.is_some()),
        ("time in suspend (a wait across one counts as late)", totals.suspended_ns.is_some()),
        ("its own CPU time (so nothing limits that)", totals.own_cpu_ns.is_some()),
    ];
    let missing: Vec<&str> = known.into_iter().filter(|(_, is_known)| !is_known).map(|(name, _)| name).collect();
    (!missing.is_empty()).then(|| format!("This system doesn't count: {}.", missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn what_is_not_counted_is_said_and_nothing_where_all_is() {
        let known = Some(Nanos::ZERO);
        let linux = Disturbance {
            steal_ns: known,
            cpu_pressure_ns: known,
            throttled_ns: known,
            run_delay_ns: known,
            suspended_ns: known,
            own_cpu_ns: known,
            ..Disturbance::default()
        };
        assert_eq!(lacking(&linux), None);
        let windows = Disturbance { own_cpu_ns: known, ..Disturbance::default() };
        let words = "This system doesn't count: steal, CPU pressure, throttling, how long a thread waits for a CPU, time in \
                     suspend (a wait across one counts as late).";
        assert_eq!(lacking(&windows).as_deref(), Some(words));
    }
}
