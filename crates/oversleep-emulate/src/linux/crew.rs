//! Several threads of a supervisor share the threads of a program out among themselves.
//!
//! The system finds the thread that stopped by looking through all that its tracer traces. Past some hundreds, that takes
//! longer than leading a wait. So a tracer that has enough gives each new thread to another one: only its tracer can let
//! go of a thread, and only its next one can take it, so between the two it waits in [`Entry::Park`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use super::ptrace::{self, Registers, Tid};
use super::trampoline::Entry;

/// What another thread guards, whether or not that one failed: a tally stays one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a new tracer does, as that member.
pub type Tracing = Box<dyn FnOnce(Arc<Member>) + Send>;

/// How many threads one tracer has.
pub const SHARE: usize = 64;
/// A signal that does nothing but stop the thread that is the bell.
const RING: i32 = libc::SIGUSR1;

/// A thread on its way to another tracer, and what its registers are to be when it arrives.
pub struct Parcel {
    pub tid: Tid,
    pub registers: Box<Registers>,
}

/// A tracer that takes threads of others.
pub struct Member {
    /// Those on their way; none once it takes no more.
    parcels: Mutex<Option<Vec<Parcel>>>,
    pub count: AtomicUsize,
    /// A process that it traces too. A signal to that ends its wait, at whatever moment it comes.
    bell: Tid,
}

impl Member {
    /// Takes what is on its way.
    pub fn take(&self) -> Vec<Parcel> {
        lock(&self.parcels).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether it ends: nothing is on its way, and nothing will be.
    pub fn close(&self) -> bool {
        let mut parcels = lock(&self.parcels);
        let is_over = parcels.as_ref().is_none_or(Vec::is_empty);
        if is_over {
            *parcels = None;
            // SAFETY: takes numbers; the bell is a child of this thread that nobody has waited for.
            unsafe { libc::kill(self.bell, libc::SIGKILL) };
        }
        is_over
    }

    pub fn is_bell(&self, tid: Tid) -> bool {
        tid == self.bell
    }

    fn give(&self, parcel: Parcel) -> Result<(), Parcel> {
        match lock(&self.parcels).as_mut() {
            Some(parcels) => parcels.push(parcel),
            None => return Err(parcel),
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        // SAFETY: takes numbers.
        unsafe { libc::kill(self.bell, RING) };
        Ok(())
    }
}

/// The tracers that take threads of others.
#[derive(Default)]
pub struct Crew {
    members: Mutex<Vec<Arc<Member>>>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

impl Crew {
    /// Gives away a new thread, which is stopped for the caller and has not run yet. It keeps it where nobody takes it.
    /// `tracing` makes what a further tracer does.
    pub fn give_away(&self, tid: Tid, tracing: impl Fn() -> Tracing) -> bool {
        let Ok(registers) = ptrace::registers(tid) else { return false };
        let Some(member) = self.member(&tracing) else { return false };
        let parked = Registers { rip: Entry::Park.address(), orig_rax: u64::MAX, ..registers };
        if ptrace::set_registers(tid, &parked).and_then(|()| ptrace::let_go(tid)).is_err() {
            // It was killed.
            return false;
        }
        let mut parcel = Parcel { tid, registers: Box::new(registers) };
        let mut member = Some(member);
        // It may have ended since; a new one takes it. Where none can start, the thread waits for one.
        loop {
            match member.as_ref().map(|member| member.give(parcel)) {
                Some(Ok(())) => return true,
                Some(Err(back)) => parcel = back,
                None => return true,
            }
            member = self.member(&tracing);
        }
    }

    /// Waits for all of them.
    pub fn join(&self) {
        while let Some(one) = { lock(&self.threads).pop() } {
            let _ = one.join();
        }
    }

    /// One that has room, a new one if need be.
    fn member(&self, tracing: &impl Fn() -> Tracing) -> Option<Arc<Member>> {
        let mut members = lock(&self.members);
        members.retain(|member| lock(&member.parcels).is_some());
        if let Some(member) = members.iter().rev().find(|member| member.count.load(Ordering::Relaxed) < SHARE) {
            return Some(Arc::clone(member));
        }
        let (sender, receiver) = mpsc::channel();
        let tracing = tracing();
        let begun = thread::Builder::new().stack_size(256 << 10).spawn(move || {
            let bell = bell();
            let member = Arc::new(Member { parcels: Mutex::new(Some(Vec::new())), count: AtomicUsize::new(0), bell });
            let is_usable = bell > 0 && ptrace::seize(bell).is_ok();
            let _ = sender.send(is_usable.then(|| Arc::clone(&member)));
            if is_usable {
                tracing(member);
            }
        });
        lock(&self.threads).push(begun.ok()?);
        let member = receiver.recv().ok()??;
        members.push(Arc::clone(&member));
        Some(member)
    }
}

/// A process that does nothing, and ends with the calling thread.
fn bell() -> Tid {
    // SAFETY: the copy makes only calls that are allowed after a fork and never returns.
    unsafe {
        match libc::fork() {
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::syscall(libc::SYS_close_range, 0, i32::MAX, 0);
                libc::signal(RING, libc::SIG_IGN);
                loop {
                    libc::pause();
                }
            }
            bell => bell,
        }
    }
}
