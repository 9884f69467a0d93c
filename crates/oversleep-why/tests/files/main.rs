//! Recordings and results of `why`, real and made-up. One test program, because each links everything again.

mod between;
mod hostile;
mod interruptions;
mod kept;
mod marks;
mod moved;
mod recorded;
mod results;
mod splits;
mod stacks;
mod stream;
mod trace;
