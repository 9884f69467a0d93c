//! Any bytes as a result file: they are read or refused. A file that was read can be written and read again as the same,
//! and a report finds in it everything it needs. `schema/golden/` holds good seeds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_record::conditions::Outcome;
use oversleep_record::stats::{median, share_of_rounds_lower, steadiness};
use oversleep_record::{ClockResult, Conditions, Distribution, FactName, ResultFile, Series, label};

fuzz_target!(|bytes: &[u8]| {
    match ResultFile::read(bytes) {
        Ok(file) => {
            written_and_read_again(&file);
            file.series.iter().for_each(report_series);
            file.clocks.iter().for_each(|clock| report_clock(&file, clock));
            report_trials(&file);
            report_environment(&file);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn written_and_read_again(file: &ResultFile) {
    let written = file.write();
    let again = ResultFile::read(&written).expect("what was written is read");
    // The first reading rounds a mean to a sum in whole units, so only later ones are equal.
    let rounded = ResultFile::read(&again.write()).expect("what was written is read");
    assert_eq!(rounded.write(), again.write());
}

fn report_series(series: &Series) {
    let corrected = series.corrected();
    let mut all = vec![&series.distribution, series.calls()];
    all.extend(&corrected);
    if let Some(split) = &series.split {
        all.extend([&split.total, &split.timer, &split.run_queue, &split.wake_return]);
    }
    all.into_iter().for_each(report_distribution);
    let disturbance = series.disturbance();
    let parts = [disturbance.steal_ns, disturbance.own_cpu_ns, disturbance.run_delay_ns, disturbance.cpu_pressure_ns];
    for share in parts.into_iter().filter_map(|part| disturbance.share(part)) {
        assert!(share.is_finite());
    }
    let _ = (steadiness(series), share_of_rounds_lower(series, series), median(&mut series.samples.value.clone()));
    for &[first, length] in &series.samples.missed_runs {
        assert!(series.samples.value[first as usize..][..length as usize].len() as u64 == length);
    }
    report_conditions(&series.conditions);
    let spans = [series.requested_ns, series.rounded_ns].into_iter().flatten();
    let _: String = spans.map(|span| format!("{span:>9} {span:.3} {}", span.round_up_to(span))).collect();
    let _ = (series.pace.map(|pace| pace.to_string()), series.label(label::WAY), series.has_values());
}

fn report_distribution(values: &Distribution) {
    for quantile in [0.0, 0.001, 0.5, 0.99, 0.999, 0.9999, 1.0] {
        let value = values.quantile(quantile);
        assert!(value >= values.min() && value <= values.max());
        let _ = values.safe_quantile(quantile);
    }
    assert!(values.mean().is_none_or(f64::is_finite));
    assert!(values.count_above(0) <= values.count());
    let ascending: Vec<(i64, u64)> = values.buckets().collect();
    assert!(ascending.is_sorted(), "buckets come in order");
    let mut twice = values.clone();
    twice.merge(values);
    let _ = (twice.p50(), twice.p99());
}

fn report_conditions(conditions: &Conditions) {
    let _ = (conditions.to_string(), conditions.all_held(), conditions.same_request(conditions));
    for outcome in conditions.outcomes.values() {
        let _ = match outcome {
            Outcome::Applied { was, now } => format!("{:?} {now}", was.as_ref().map(ToString::to_string)),
            Outcome::AlreadySo { is } => is.to_string(),
            Outcome::Denied { why } => why.to_string(),
        };
    }
}

fn report_clock(file: &ResultFile, clock: &ClockResult) {
    assert!(clock.indicated_ratio().is_none_or(f64::is_finite));
    let cost = clock.cost_series.as_ref().and_then(|key| file.series(key));
    let _ = (cost.map(|series| series.distribution.p50()), clock.unavailable.as_ref().map(ToString::to_string));
    let _: String = clock.differences.iter().map(|d| (d.indicated_ns - d.reference_ns).to_string()).collect();
}

fn report_trials(file: &ResultFile) {
    for trial in &file.trials {
        report_conditions(&trial.conditions);
        for pair in &trial.pairs {
            let (before, after) = (file.series(&pair.before), file.series(&pair.after));
            let (before, after) = (before.expect("the reader checked it"), after.expect("the reader checked it"));
            let _ = share_of_rounds_lower(before, after);
        }
    }
}

fn report_environment(file: &ResultFile) {
    let environment = &file.environment;
    for &name in FactName::ALL {
        let _ = (environment.text(name), environment.real(name), environment.list(name), environment.flag(name));
        let _ = environment.nanos(name).map(|span| span.to_string());
    }
    let _: String = environment.unknown().map(|(name, reason)| format!("{name}: {reason}")).collect();
}
