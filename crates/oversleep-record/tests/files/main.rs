//! Result files as other programs meet them: published, damaged, hostile, compared. One test program, because each links
//! everything again.

mod comparison;
mod damage;
mod golden;
mod hostile;
mod support;
mod why_v1;
