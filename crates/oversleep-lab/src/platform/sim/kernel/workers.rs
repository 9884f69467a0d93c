//! Real threads for modelled ones to run on, kept and used again: a run starts thousands of modelled threads, and making
//! a real one costs more than most of them do.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;

use oversleep_record::conditions::Setting;

use crate::platform::interface::Restore;

/// What a worker runs.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Workers that have nothing to do. All modelled machines share them.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
/// More than this many aren't kept.
const IDLE_MAX: usize = 64;

/// Keeps the calling thread beside the others of its modelled machine, where this system lets it: only one of them runs
/// at a time, and the baton then never crosses CPUs (3 us instead of 11 on a guest with two CPUs). Different machines
/// and processes go to different CPUs.
pub(super) fn keep_together(machine: u64) -> Option<Box<dyn Restore>> {
    static CPUS: OnceLock<Vec<u32>> = OnceLock::new();
    let native = crate::platform::native();
    let cpus = CPUS.get_or_init(|| native.cpus().iter().map(|cpu| cpu.number).collect());
    let turn = machine.wrapping_add(u64::from(std::process::id()));
    let cpu = *cpus.get((turn % cpus.len().max(1) as u64) as usize)?;
    native.tunable("pin")?.apply(&Setting::Cpus(vec![cpu])).1
}

/// A real thread that runs one job after the other.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Sender<Job>,
    thread: Thread,
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Worker>> {
    // Nothing between taking and giving back can leave the list in disorder.
    IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Worker {
    /// One that is idle, or a new one.
    ///
    /// # Errors
    /// The system's, where it refuses another thread.
    pub(super) fn take() -> std::io::Result<Worker> {
        if let Some(worker) = idle().pop() {
            return Ok(worker);
        }
        let (jobs, queue) = channel::<Job>();
        let handle = std::thread::Builder::new().name("modelled".to_owned()).spawn(move || {
            while let Ok(job) = queue.recv() {
                // Jobs catch their own panics.
                job();
            }
        })?;
        Ok(Worker { jobs, thread: handle.thread().clone() })
    }

    /// The thread, to be woken by.
    pub(super) fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Runs a job; the worker is free for the next one when the job is over.
    pub(super) fn run_and_keep(self, job: Job) {
        let jobs = self.jobs.clone();
        let whole = Box::new(move || {
            job();
            let mut idle = idle();
            if idle.len() < IDLE_MAX {
                idle.push(self);
            }
        });
        // It waits for jobs until its last owner is gone, so it is there.
        let _ = jobs.send(whole);
    }
}
