//! `cargo prove faults-filter CALL:ERROR … -- PROGRAM …`: runs a program under a filter that refuses system calls, as
//! the filters of containers do.

#[cfg(target_os = "linux")]
pub use linux::run;

#[cfg(not(target_os = "linux"))]
pub fn run(_: &[String]) -> Result<std::process::ExitCode, String> {
    Err("system calls are filtered on Linux only".to_owned())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, ExitCode};

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

    /// Replaces this process by the program.
    ///
    /// # Errors
    /// An unknown call, or the system doesn't support filters.
    pub fn run(args: &[String]) -> Result<ExitCode, String> {
        let at = args.iter().position(|one| one == "--").ok_or("the program goes behind --")?;
        let (refused, program) = (&args[..at], &args[at + 1..]);
        let (name, arguments) = program.split_first().ok_or("a program is missing")?;
        // One filter for all calls with the same error: the call that installs the next filter may be refused by then.
        let mut by_error: BTreeMap<u32, BTreeMap<i64, Vec<SeccompRule>>> = BTreeMap::new();
        for one in refused {
            let (call, error) = one.split_once(':').ok_or("write CALL:ERROR")?;
            let error = error.parse().map_err(|_| "the error is a number")?;
            by_error.entry(error).or_default().insert(number(call)?, Vec::new());
        }
        for (error, rules) in by_error {
            filter(rules, error)?;
        }
        Err(format!("{name}: {}", Command::new(name).args(arguments).exec()))
    }

    fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, error: u32) -> Result<(), String> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), arch);
        let program: BpfProgram = filter.and_then(|filter| filter.try_into()).map_err(|error| error.to_string())?;
        seccompiler::apply_filter(&program).map_err(|error| error.to_string())
    }

    fn number(name: &str) -> Result<i64, String> {
        CALLS.iter().find(|(call, _)| *call == name).map(|&(_, number)| number).ok_or(format!("unknown call {name}"))
    }

    macro_rules! calls {
        ($($name:literal $number:ident),* $(,)?) => { &[$(($name, libc::$number)),*] };
    }

    /// The calls that rows refuse.
    const CALLS: &[(&str, i64)] = calls![
        "clock_nanosleep" SYS_clock_nanosleep,
        "clone3" SYS_clone3,
        "epoll_create1" SYS_epoll_create1,
        "epoll_pwait2" SYS_epoll_pwait2,
        "eventfd2" SYS_eventfd2,
        "fsync" SYS_fsync,
        "getrandom" SYS_getrandom,
        "io_uring_setup" SYS_io_uring_setup,
        "linkat" SYS_linkat,
        "membarrier" SYS_membarrier,
        "mlockall" SYS_mlockall,
        "nanosleep" SYS_nanosleep,
        "perf_event_open" SYS_perf_event_open,
        "pipe2" SYS_pipe2,
        "ppoll" SYS_ppoll,
        "prctl" SYS_prctl,
        "prlimit64" SYS_prlimit64,
        "pselect6" SYS_pselect6,
        "ptrace" SYS_ptrace,
        "recvfrom" SYS_recvfrom,
        "renameat2" SYS_renameat2,
        "rt_sigtimedwait" SYS_rt_sigtimedwait,
        "sched_getaffinity" SYS_sched_getaffinity,
        "sched_getattr" SYS_sched_getattr,
        "sched_setaffinity" SYS_sched_setaffinity,
        "sched_setscheduler" SYS_sched_setscheduler,
        "sched_yield" SYS_sched_yield,
        "seccomp" SYS_seccomp,
        "setitimer" SYS_setitimer,
        "setsockopt" SYS_setsockopt,
        "socketpair" SYS_socketpair,
        "statx" SYS_statx,
        "sysinfo" SYS_sysinfo,
        "timer_create" SYS_timer_create,
        "timerfd_create" SYS_timerfd_create,
        "uname" SYS_uname,
    ];
}
