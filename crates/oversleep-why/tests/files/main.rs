//! Recordings and results of `why`, real and made-up. One test program, because each links everything again.

mod golden;
mod hostile;
mod kept;
mod read;
mod recorded;
mod splits;
mod stacks;
mod stream;
mod trace;
