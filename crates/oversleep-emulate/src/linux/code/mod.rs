//! The code that is injected into a program, and what puts threads into it and out of it.
//!
//! It owns the assembly of all rooms (`*.s`), which is one piece at one address (`trampoline`), and the figures that this
//! code reads (`rule`). It is mapped before a program's first instruction (`inject`), and keeps its own state on the
//! thread's stack. Unwinding can't begin in it, so signals reach a thread in the program's own code (`interrupted`), those
//! by which glibc and musl cancel a thread whatever it does there (`cancel`).

pub mod cancel;
pub mod inject;
pub mod interrupted;
pub mod rule;
pub mod trampoline;
