//! Which processes have emulated clocks, and what these show.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use oversleep_record::Nanos;
use oversleep_system::rules::Grid;

use super::table::{self, Table};
use super::time_spaces::TimeSpaces;
use crate::linux::process::clock;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::Tid;
use crate::plan::Stepped;

/// The emulated clocks of all processes. Each function takes the grid of interrupts that its caller keeps from changing.
#[derive(Default)]
pub struct PlacedClocks {
    placed: Mutex<HashMap<Tid, Arc<Vec<Stepped>>>>,
    /// Whether some process has an emulated clock that programs take deadlines from.
    steps_exact: AtomicBool,
    /// Whether the interrupt period has changed since programs got their clocks.
    has_changed: AtomicBool,
}

impl PlacedClocks {
    /// Gives its clocks to a program that was just executed.
    ///
    /// # Errors
    /// The reason why it reads this system's clocks.
    pub fn place(
        &self,
        process: Tid,
        stepped: Vec<Stepped>,
        grid: Option<Grid>,
        spaces: &TimeSpaces,
    ) -> Result<(), &'static str> {
        lock(&self.placed).remove(&process);
        if stepped.iter().any(|clock| !clock.is_apart && clock.clock.reads() == clock.clock) {
            self.steps_exact.store(true, Ordering::SeqCst);
        }
        table::write(process, &table_of(process, &stepped, grid, spaces))?;
        let redirected = table::redirect(process, &stepped);
        lock(&self.placed).insert(process, Arc::new(stepped));
        redirected
    }

    /// The interrupt period has changed, and with it the clocks that show the last interrupt.
    pub fn change(&self, grid: Option<Grid>, spaces: &TimeSpaces) {
        self.has_changed.store(true, Ordering::SeqCst);
        let grid = table::from_next_tick(grid, clock::now());
        for (process, stepped) in lock(&self.placed).iter() {
            let _ = table::change(*process, &table_of(*process, stepped, grid, spaces));
        }
    }

    /// A process started another, which has a copy of its clocks: maybe one from before the last change.
    pub fn note_start(&self, process: Tid, started: Tid, grid: Option<Grid>, spaces: &TimeSpaces) {
        let mut placed = lock(&self.placed);
        if let Some(stepped) = placed.get(&process).map(Arc::clone) {
            if self.has_changed.load(Ordering::SeqCst) {
                let grid = table::from_next_tick(grid, clock::now());
                let _ = table::change(started, &table_of(started, &stepped, grid, spaces));
            }
            placed.insert(started, stepped);
        }
    }

    /// A process is gone.
    pub fn forget(&self, process: Tid) {
        lock(&self.placed).remove(&process);
    }

    /// Whether some process has an emulated clock.
    pub fn are_some(&self) -> bool {
        !lock(&self.placed).is_empty()
    }

    /// Whether that clock is emulated in the process.
    pub fn has(&self, process: Tid, id: i32) -> bool {
        lock(&self.placed)
            .get(&process)
            .is_some_and(|stepped| stepped.iter().any(|clock| !clock.is_apart && clock.clock.id() == id))
    }

    /// Whether some process has an emulated clock that programs take deadlines from.
    pub fn steps_exact(&self) -> bool {
        self.steps_exact.load(Ordering::Relaxed)
    }

    /// How far an emulated clock of that process lags, if Linux calls the clock exact. `grid` is read only if there is one.
    pub fn behind(&self, process: Tid, id: i32, now: Nanos, grid: impl Fn() -> Option<Grid>) -> Nanos {
        let Some(stepped) = lock(&self.placed).get(&process).map(Arc::clone) else { return Nanos::ZERO };
        let Some(clock) = stepped.iter().find(|clock| !clock.is_apart && clock.clock.id() == id) else {
            return Nanos::ZERO;
        };
        let ahead = clock::ahead(id);
        let on_clock = grid().map(|grid| Grid { origin: grid.origin + ahead, ..grid });
        now + ahead - clock.reading(now + ahead, on_clock)
    }
}

/// The table for these clocks, as they are in that process.
fn table_of(process: Tid, stepped: &[Stepped], grid: Option<Grid>, spaces: &TimeSpaces) -> Table {
    Table::new(stepped, grid, |clock| spaces.ahead(process, clock))
}
