//! An hour of a simulated host as a result, as `serve --hourly` leaves it: what `archive add` makes rows of.

use oversleep_lab::fleet::Stretch;
use oversleep_record::disturbance::Disturbance;
use oversleep_record::environment::{Environment, FactValue, PlatformId};
use oversleep_record::series::{Quantity, Round, Unit};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, SeriesKey};

use super::libc_of;

/// The length of a result.
const HOUR: Nanos = Nanos::from_secs(3_600);

/// The result of a host's wait of an hour.
pub fn result_of(stretch: &Stretch<'_>) -> ResultFile {
    ResultFile {
        taken_unix_s: Some(stretch.taken_unix_s),
        duration_ns: HOUR,
        name: Some(stretch.host.to_owned()),
        environment: environment(stretch),
        series: vec![series(stretch)],
        ..ResultFile::empty("serve", PlatformId::real(stretch.kind.os.clone(), "x86_64"))
    }
}

fn environment(of: &Stretch<'_>) -> Environment {
    let setting = |name: &str| of.settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let text = |value: Option<&str>| value.map(|value| FactValue::Text(value.to_owned()));
    let libc = libc_of(of.host);
    let facts = [
        (FactName::CpuModel, text(of.kind.processor.as_deref())),
        (FactName::CpuCount, of.kind.cpus.map(|cpus| FactValue::Integer(i64::from(cpus)))),
        (FactName::VirtualisationHypervisor, text(of.kind.hypervisor.as_deref())),
        (FactName::KernelRelease, text(of.kernel)),
        (FactName::ClocksourceCurrent, text(setting("clock source"))),
        (FactName::KernelPreemption, text(setting("preemption mode"))),
        (FactName::LibcName, text(libc.map(|_| "glibc"))),
        (FactName::LibcVersion, text(libc)),
    ];
    let mut environment = Environment::default();
    for (name, value) in facts {
        if let Some(value) = value {
            environment.set(name, value, "simulated");
        }
    }
    environment
}

fn series(of: &Stretch<'_>) -> Series {
    let mut series = Series::new(ExperimentId::B5, of.wait, Quantity::Lateness, Unit::Ns);
    if let Some(requested) = of.requested {
        series.key = SeriesKey::new(ExperimentId::B5, of.wait).span(requested);
    }
    series.requested_ns = of.requested;
    series.counts.recorded = of.lateness.count();
    series.distribution = of.lateness.clone();
    let of_all_cpus = |share: f64| Nanos((share * f64::from(of.kind.cpus.unwrap_or(1)) * HOUR.0 as f64) as i64);
    let disturbance =
        Disturbance { window_ns: HOUR, steal_ns: of.steal_share.map(of_all_cpus), ..Disturbance::default() };
    series.rounds.push(Round::of(Nanos::ZERO, of.lateness, disturbance));
    series
}

#[cfg(test)]
mod tests {
    use oversleep_lab::fleet::simulated::{Plan, each};

    use super::super::row_of;
    use super::*;
    use crate::row::{Origin, rows_of};

    #[test]
    fn the_row_of_a_written_result_is_that_of_its_hour() {
        let plan = Plan { hosts: 10, days: 1, ..Plan::WEEK };
        each(&plan, &mut |stretch| {
            let written = result_of(stretch).write();
            let read = ResultFile::read(&written).unwrap();
            let rows = rows_of(&read, &Origin { source: stretch.host.to_owned(), taken_us: 0 });
            let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
            let direct = row_of(stretch);
            assert_eq!((&row.machine, row.taken_us, row.seconds), (&direct.machine, direct.taken_us, direct.seconds));
            assert_eq!((&row.subject, row.request_ns, &row.tool), (&direct.subject, direct.request_ns, &direct.tool));
            assert_eq!(
                (&row.quantity, &row.unit, &row.conditions),
                (&direct.quantity, &direct.unit, &direct.conditions)
            );
            assert_eq!(row.values(), direct.values());
            let apart = row.steal_share.zip(direct.steal_share).map_or(0.0, |(one, other)| (one - other).abs());
            assert!(row.steal_share.is_some() == direct.steal_share.is_some() && apart < 1e-9, "{apart}");
        })
        .unwrap();
    }
}
