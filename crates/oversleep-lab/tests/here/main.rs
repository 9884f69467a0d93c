//! On the machine that runs the tests: every change of a measurement is restored; and, with `-- --ignored`,
//! measurements in real time.

mod real_time;
mod restores;
