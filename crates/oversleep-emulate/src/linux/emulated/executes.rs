//! What a tracer does when a process executes a program: it prepares the program, or refuses it.

use std::sync::Arc;

use oversleep_record::Nanos;
use oversleep_system::runtime_calls::HELD;

use super::tracer::Tracer;
use crate::linux::calls::entry;
use crate::linux::code::inject::{self, Native, Wanted};
use crate::linux::process::clock;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::Tid;
use crate::linux::programs::callers::Callers;
use crate::linux::programs::executed;
use crate::linux::programs::processes::{Program, Special};
use crate::plan::{Adapted, ClockChoice, Holder, Plan};

const OF_32_BITS: &str = "a program for 32 bits runs with native timing: only the 64-bit calls are redirected";
const REFUSED_32_BITS: &str = "it is a 32-bit program, and only 64-bit calls get another machine's timing; use its 64-bit build, or \
    --allow-32-bit to let it run with native timing";
const REFUSED: &str = "the system refused the mapping that its waits need, so the program runs with native timing";
const SETUID: &str = "a setuid or setgid program runs without its file's privileges here, as under any tracer: run it as root, or \
    without emulate";

impl Tracer {
    /// A process executes another program.
    pub(super) fn prepare_program(&mut self, tid: Tid, now: Nanos) {
        self.note_exec(tid);
        self.shared.counts.count_exec();
        if self.shared.settings.is_unprivileged && executed::changes_user(tid) {
            lock(&self.tally).note_passed_by("execve", SETUID);
        }
        if let Some(why) = self.shared.settings.plan.as_ref().and_then(|_| executed::started_by_a_daemon(tid)) {
            lock(&self.tally).note_passed_by("execve", why);
        }
        self.shared.processes.note_exec(tid);
        self.shared.sites.forget(tid);
        self.shared.spaces.meet(tid);
        let locks = self.shared.settings.locks_memory;
        let is_limited = locks && !inject::may_lock_all(tid);
        let wanted = Wanted { code: self.shared.settings.plan.is_some(), locked_memory: locks && !is_limited };
        let got = inject::prepare_at_exec(tid, wanted);
        if is_limited {
            self.shared.counts.count_locked(libc::EPERM);
        }
        if let Some(error) = got.locked_memory {
            self.shared.counts.count_locked(error);
        }
        match got.code {
            Ok(()) => self.prepare(tid),
            // Its end may have been seen already, and comes only once.
            Err(Native::Gone) => self.forget(tid, now),
            Err(Native::Of32Bits) => self.meet_32_bits(tid, now),
            Err(Native::Refused) => self.run_natively(tid, REFUSED),
            Err(Native::Protected) => self.run_natively(tid, entry::PROTECTED),
        }
    }

    /// Sets up the clocks and waits that the port of the program's runtime would use.
    fn prepare(&mut self, tid: Tid) {
        let shared = &self.shared;
        let Some(plan) = &shared.settings.plan else { return };
        let adapted = self.adapted(tid);
        let apart = adapted.as_ref().and_then(|adapted| adapted.apart.clone());
        let apart = apart.filter(|_| shared.settings.choice == ClockChoice::Coarse);
        let stepped = match adapted.as_ref().and_then(|adapted| adapted.clocks.as_ref()) {
            Some(ClockChoice::These(these)) if shared.settings.choice == ClockChoice::Coarse => {
                let own = plan.clocks(&ClockChoice::These(these.clone())).unwrap_or_default();
                let is_own = |clock| own.iter().any(|own| own.clock == clock);
                let others = shared.settings.stepped.iter().filter(|other| !is_own(other.clock)).cloned();
                others.chain(own.iter().cloned()).collect::<Vec<_>>()
            }
            _ => shared.settings.stepped.clone(),
        };
        let stepped: Vec<_> = stepped.into_iter().chain(apart).collect();
        if !stepped.is_empty()
            && let Err(why) = shared.place_clocks(tid, stepped)
        {
            lock(&self.tally).note_passed_by("clock_gettime", why);
        }
        // The process's own filter stays in force for everything that it executes.
        if let Some(adapted) = adapted.filter(|_| shared.processes.special(tid).is_none()) {
            if adapted.always_holds() && shared.settings.plan.as_ref().is_some_and(Plan::has_tick) {
                shared.hold(Holder::Runtime(tid), Some(HELD), clock::now());
            }
            let own_code = executed::identify(tid).own_code(tid);
            let program = Program { adapted, own_code, callers: Callers::default() };
            shared.processes.set(tid, Special::Adapted(Arc::new(program)));
        }
    }

    fn adapted(&self, tid: Tid) -> Option<Adapted> {
        let (shared, program) = (&self.shared, executed::identify(tid));
        let (plan, version) = (shared.settings.plan.as_ref()?, |mark: &str| program.version(mark));
        let Some(adapted) =
            plan.adapted(&program.executed, &shared.settings.stands_for, shared.settings.has_adapters, version)
        else {
            let recognises = shared.settings.has_adapters && plan.is_of_another_system();
            let others = if recognises { plan.not_adapted(&program.executed, version) } else { Vec::new() };
            match others.is_empty() {
                true => shared.counts.note_unrecognised(program.executed.file),
                false => shared.counts.note_adapters(&others),
            }
            return None;
        };
        shared.counts.note_adapters(&adapted.described);
        Some(adapted)
    }

    /// An emulated program of 32 bits ends before its first instruction, unless such programs may run.
    fn meet_32_bits(&mut self, process: Tid, now: Nanos) {
        if self.shared.settings.plan.is_none() || self.shared.settings.allows_32_bit {
            return self.run_natively(process, OF_32_BITS);
        }
        match inject::end_at_once(process) {
            Ok(()) => self.shared.refuse(process, REFUSED_32_BITS),
            // Its end may have been seen already, and comes only once.
            Err(_) => self.forget(process, now),
        }
    }

    pub(super) fn run_natively(&mut self, process: Tid, why: &'static str) {
        lock(&self.tally).note_passed_by("execve", why);
        self.shared.processes.set(process, Special::Native(why));
        self.shared.sites.turn_off(process);
    }
}
