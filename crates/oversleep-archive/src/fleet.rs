//! The rows of an archive as a fleet, which the laboratory judges.

use std::collections::BTreeMap;

use oversleep_lab::fleet::{Collector, Fleet, Kind, Stretch};
use oversleep_record::Nanos;

use crate::row::Row;

/// Takes the rows of an archive day by day, and judges them as a fleet.
#[derive(Clone, Debug, Default)]
pub struct FleetOfRows {
    collector: Collector,
    /// The names of machines, by their random texts.
    names: BTreeMap<String, String>,
    rows: u64,
    left_out: u64,
}

impl FleetOfRows {
    /// One without rows; machines may have names, by their random texts.
    pub fn new(names: BTreeMap<String, String>) -> FleetOfRows {
        FleetOfRows { names, ..FleetOfRows::default() }
    }

    /// Adds a row: the lateness of a system's own wait as found. Others are counted: hosts are alike only in what they do
    /// under the same settings.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        let is_lateness = row.quantity == "lateness" && row.unit == "ns" && row.runtime.is_none();
        if !is_lateness || !row.conditions.is_empty() {
            self.left_out += 1;
            return;
        }
        let machine = &row.machine;
        let kind = Kind {
            os: machine.os.clone(),
            processor: machine.cpu_model.clone(),
            cpus: machine.cpus.and_then(|cpus| u32::try_from(cpus).ok()),
            hypervisor: machine.hypervisor.clone(),
        };
        let hz = machine.hz.map(|hz| hz.to_string());
        let settings = [
            ("clock source", machine.clocksource.as_deref()),
            ("preemption mode", machine.preemption.as_deref()),
            ("tick rate", hz.as_deref()),
            ("governor", machine.governor.as_deref()),
        ];
        let settings: Vec<(&str, &str)> =
            settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.collector.add(&Stretch {
            host: self.names.get(&row.source).unwrap_or(&row.source),
            kind: &kind,
            kernel: machine.kernel.as_deref(),
            settings: &settings,
            wait: &row.subject,
            requested: row.request_ns.map(Nanos),
            taken_unix_s: row.taken_us.div_euclid(1_000_000),
            lateness: &row.values(),
            steal_share: row.steal_share,
        });
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of them are no lateness of a system's own wait as found.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What all of them say.
    pub fn judge(self) -> Fleet {
        self.collector.judge()
    }
}

#[cfg(feature = "archive")]
impl FleetOfRows {
    /// Those of an archive's rows that a filter takes, day by day. About 20 µs a row, and memory for one day's waits.
    ///
    /// # Errors
    /// A file is damaged or another program's.
    pub fn of(
        archive: &crate::store::Archive,
        filter: &crate::Filter,
    ) -> Result<FleetOfRows, crate::store::StoreError> {
        use crate::Column;
        let needs =
            |column: &Column| !matches!(column, Column::Facts | Column::Labels | Column::Tool | Column::Content);
        let columns = Column::ALL.iter().copied().filter(needs).collect();
        crate::store::read_again(crate::store::StoreError::is_gone, || {
            let mut fleet = FleetOfRows::new(archive.machines()?);
            let Ok(()) = archive.each(&archive.files(filter)?, &columns, |row| {
                if filter.takes(row) {
                    fleet.add(row);
                }
                Ok::<(), std::convert::Infallible>(())
            })?;
            Ok(fleet)
        })
    }
}

#[cfg(test)]
mod tests {
    use oversleep_lab::fleet::simulated::{Plan, each};

    use super::*;
    use crate::simulated::row_of;

    #[test]
    fn a_fleet_of_rows_is_judged_as_the_fleet_itself() {
        let plan = Plan { hosts: 100, days: 7, ..Plan::WEEK };
        let (mut direct, mut by_rows) = (Collector::new(), FleetOfRows::new(BTreeMap::new()));
        let mut changed = 0;
        each(&plan, &mut |stretch| {
            direct.add(stretch);
            let row = row_of(stretch);
            by_rows.add(&row);
            // The same under another setting is another wait.
            by_rows.add(&Row { conditions: "slack=1ns".to_owned(), ..row });
            changed += 1;
        })
        .unwrap();
        assert_eq!(by_rows.left_out(), changed);
        let (direct, by_rows) = (direct.judge(), by_rows.judge());
        assert_eq!(direct, by_rows);
        assert_eq!(direct.findings.len(), 4, "{:#?}", direct.findings);
    }
}
