//! How idle the CPUs are and how much power the packages draw: the cost of a finer timer resolution or a fast timer.

use oversleep_record::{Nanos, Unavailable};

/// Idle states and energy at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleReading {
    /// The moment, on the reference clock.
    pub at: Nanos,
    /// Number of CPUs whose times are added up.
    pub cpus: u32,
    /// Time in each idle state on all CPUs together, since an arbitrary origin.
    pub states: Result<Vec<IdleState>, Unavailable>,
    /// Energy of each processor package since an arbitrary origin.
    pub packages: Result<Vec<Package>, Unavailable>,
}

/// One idle state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// The system's name: `C6`, `WFI`.
    pub name: String,
    /// Time in it.
    pub spent: Nanos,
}

/// One package's energy counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its counter, in µJ.
    pub energy_uj: u64,
    /// The highest value before it wraps to zero.
    pub highest_uj: u64,
}

impl IdleReading {
    /// A reading in which everything is unknown for that reason.
    pub fn unknown(at: Nanos, why: Unavailable) -> IdleReading {
        IdleReading { at, cpus: 0, states: Err(why.clone()), packages: Err(why) }
    }

    /// Time in the state of that name from `self` to `later`, per second and CPU.
    ///
    /// # Errors
    /// Why it isn't known.
    pub fn residency(&self, later: &IdleReading, state: &str) -> Result<Nanos, Unavailable> {
        let spent = |reading: &IdleReading| -> Result<Nanos, Unavailable> {
            let states = reading.states.as_ref().map_err(Clone::clone)?;
            let found = states.iter().find(|other| other.name == state);
            found.map(|state| state.spent).ok_or_else(|| Unavailable::missing(format!("idle state {state}")))
        };
        let (spent, window) = (spent(later)? - spent(self)?, later.at - self.at);
        if window <= Nanos::ZERO || spent < Nanos::ZERO || self.cpus == 0 || self.cpus != later.cpus {
            return Err(Unavailable::Nonsense { what: format!("{spent} in state {state} within {window}") });
        }
        let per_second = i128::from(spent.0) * 1_000_000_000 / (i128::from(window.0) * i128::from(self.cpus));
        Ok(Nanos(i64::try_from(per_second).unwrap_or(i64::MAX)))
    }

    /// Average power of all packages from `self` to `later`, in mW.
    ///
    /// # Errors
    /// Why it isn't known.
    pub fn power_mw(&self, later: &IdleReading) -> Result<i64, Unavailable> {
        let before = self.packages.as_ref().map_err(Clone::clone)?;
        let after = later.packages.as_ref().map_err(Clone::clone)?;
        let window = later.at - self.at;
        if window <= Nanos::ZERO || before.len() != after.len() {
            return Err(Unavailable::Nonsense { what: format!("energy of {} packages within {window}", after.len()) });
        }
        let used_uj: i128 = before.iter().zip(after).map(|(before, after)| before.until(*after)).sum();
        Ok(i64::try_from(used_uj * 1_000_000 / i128::from(window.0)).unwrap_or(i64::MAX))
    }
}

impl Package {
    /// Energy used until `later`; the counter may have wrapped once.
    fn until(self, later: Package) -> i128 {
        let used = i128::from(later.energy_uj) - i128::from(self.energy_uj);
        if used < 0 { used + i128::from(self.highest_uj) } else { used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_s: i64, spent_s: i64, energy_uj: u64) -> IdleReading {
        IdleReading {
            at: Nanos::from_secs(at_s),
            cpus: 4,
            states: Ok(vec![IdleState { name: "C6".to_owned(), spent: Nanos::from_secs(spent_s) }]),
            packages: Ok(vec![Package { energy_uj, highest_uj: 1_000_000_000 }; 2]),
        }
    }

    #[test]
    fn residency_is_per_second_and_cpu() {
        let (before, after) = (reading(10, 100, 0), reading(12, 106, 0));
        assert_eq!(before.residency(&after, "C6"), Ok(Nanos::from_millis(750)));
        assert_eq!(before.residency(&after, "C1"), Err(Unavailable::missing("idle state C1")));
        assert!(after.residency(&before, "C6").is_err(), "time doesn't go backwards");
        let unknown = IdleReading::unknown(Nanos::ZERO, Unavailable::NotMeasured);
        assert_eq!(unknown.residency(&after, "C6"), Err(Unavailable::NotMeasured));
    }

    #[test]
    fn power_survives_a_counter_that_begins_anew() {
        assert_eq!(reading(10, 0, 5_000_000).power_mw(&reading(12, 0, 9_000_000)), Ok(4_000));
        assert_eq!(reading(10, 0, 999_000_000).power_mw(&reading(12, 0, 3_000_000)), Ok(4_000));
        let unknown = IdleReading::unknown(Nanos::ZERO, Unavailable::NotMeasured);
        assert_eq!(unknown.power_mw(&reading(12, 0, 0)), Err(Unavailable::NotMeasured));
    }
}
