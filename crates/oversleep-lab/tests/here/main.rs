//! On the machine that the tests run on: whatever a measurement changes is restored, and, with `-- --ignored`, what real
//! time gives.

mod real_time;
mod restores;
