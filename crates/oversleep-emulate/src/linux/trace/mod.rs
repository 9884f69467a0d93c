//! How threads are followed, whether their waits are emulated or observed.
//!
//! A new thread runs once the thread that started it has said so (`births`), and every thread that stopped has its turn
//! (`stops`). To find the thread that stopped, the kernel searches all threads of a tracer, so a tracer keeps few and hands
//! new ones over to another (`crew`), which takes them by a call that a signal can end (`seizure`).

pub mod births;
pub mod crew;
pub mod seizure;
pub mod stops;
