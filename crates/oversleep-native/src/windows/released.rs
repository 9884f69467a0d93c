//! Everything that is opened is released: handles, window objects and resolution requests are counted around many uses
//! of every entry, including uses that fail or panic. Other tests open handles at the same time, so the count runs in
//! its own process.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::time::Duration;

use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use oversleep_system::{SharedPlatform, Target, Wait, WaitEnd};
use windows_sys::Win32::System::Threading::{
    GR_GDIOBJECTS, GR_USEROBJECTS, GetCurrentProcess, GetGuiResources, GetProcessHandleCount,
};

use super::{Native, abilities, environment, expected, handoffs, load, tunables, waits};
use crate::neighbour_process;

const USES: usize = 200;
/// Uses of entries that take some ms each.
const COSTLY_USES: usize = 40;
/// Threads of the system's pools come and go with a handle or two each. A leak in every use exceeds this.
const POOL_HANDLES: u32 = 20;

#[derive(Clone, Copy, Debug)]
struct Held {
    handles: u32,
    gdi: u32,
    user: u32,
    requests: usize,
}

fn held() -> Held {
    let mut handles = 0;
    // SAFETY: the pseudo-handle needs no closing, and the count is writable.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesshandlecount
    assert_ne!(unsafe { GetProcessHandleCount(GetCurrentProcess(), &raw mut handles) }, 0);
    // SAFETY: as above. https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-getguiresources
    let resources = |kind| unsafe { GetGuiResources(GetCurrentProcess(), kind) };
    let (gdi, user) = (resources(GR_GDIOBJECTS), resources(GR_USEROBJECTS));
    Held { handles, gdi, user, requests: tunables::outstanding() }
}

/// Uses an entry many times. The test doesn't end before nothing remains.
fn count(name: &str, once: impl FnMut()) {
    count_in(USES, name, once);
}

fn count_in(uses: usize, name: &str, mut once: impl FnMut()) {
    // What the system creates at first use stays: pools, libraries, the thread's queue.
    (0..3).for_each(|_| once());
    let before = held();
    (0..uses).for_each(|_| once());
    let is_back = |now: Held| {
        now.handles <= before.handles + POOL_HANDLES
            && now.gdi <= before.gdi
            && now.user <= before.user
            && now.requests == before.requests
    };
    for look in 1.. {
        let now = held();
        if is_back(now) {
            return;
        }
        if look % 100 == 0 {
            println!("{name}: {before:?} before, {now:?} after {look} looks");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Checks with the system as well, because the count is only oversleep's own list.
fn nothing_is_requested(after: &str) {
    assert!(!tunables::take_back(), "{after}: a request for a timer resolution remains");
}

fn the_systems_own_request_is_visible() {
    let registry = tunables::registry();
    let resolution = registry.iter().find(|tunable| tunable.info().sets_resolution).expect("it is one of them");
    nothing_is_requested("the start");
    let guards = [2, 1].map(|ms| resolution.apply(&Setting::Nanos(Nanos::from_millis(ms))));
    assert!(tunables::take_back(), "a request is held but not visible");
    drop(guards);
    nothing_is_requested("two guards");
}

/// A panic in the middle of a measurement, with the wait open and every possible setting held.
fn unwinds_while_held(platform: &SharedPlatform, wait: &dyn Wait) {
    let tunables = tunables::registry();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _open = wait.open(platform);
        let _held: Vec<_> =
            tunables.iter().filter_map(|tunable| Some(tunable.apply(tunable.settings_to_compare().last()?))).collect();
        // Skips the panic hook, which would print.
        resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
}

/// Loads with their threads, facts, abilities, and neighbours. This program doesn't act as a neighbour, so this counts
/// starting one and giving up.
fn costly_entries_are_released() {
    for kind in load::registry() {
        count_in(COSTLY_USES, kind.info().name, || {
            drop(kind.start(2).unwrap_or_else(|why| panic!("{}: {why}", kind.info().name)));
        });
    }
    count_in(COSTLY_USES, "facts", || drop(environment::collect()));
    count_in(COSTLY_USES, "abilities", || drop(abilities::survey()));
    assert!(neighbour_process::run_if_neighbour().is_none(), "this process is no neighbour");
    count_in(COSTLY_USES, "a neighbour that doesn't answer", || assert!(neighbour_process::start(None).is_err()));
}

#[test]
#[ignore = "run by the test below in its own process"]
fn everything_is_released_alone() {
    let platform: SharedPlatform = std::sync::Arc::new(Native::new());
    the_systems_own_request_is_visible();
    for wait in waits::registry() {
        count(wait.info().name, || {
            let mut waiter = match wait.open(&platform) {
                Ok(waiter) => waiter,
                Err(why) => return expected::may_lack(wait.info().name, &why),
            };
            let remaining = Nanos::from_micros(1);
            let end = waiter.wait(Target { remaining, deadline: platform.now() + remaining });
            assert!(!matches!(end, WaitEnd::Failed(_)), "{}: {end:?}", wait.info().name);
        });
        nothing_is_requested(wait.info().name);
    }
    for kind in handoffs::registry() {
        count(kind.info().name, || {
            let handoff = match kind.open() {
                Ok(handoff) => handoff,
                Err(why) => return expected::may_lack(kind.info().name, &why),
            };
            handoff.post();
            handoff.wait();
        });
    }
    for tunable in tunables::registry() {
        let mut settings = tunable.settings_to_compare();
        if settings.is_empty() {
            settings.push(Setting::Cpus(vec![0]));
        }
        let found = tunable.current();
        let mut settings = settings.iter().cycle();
        count(tunable.info().name, || {
            let (outcome, guard) = tunable.apply(settings.next().expect("a setting"));
            assert!(outcome.holds() || guard.is_none(), "{outcome:?}");
        });
        nothing_is_requested(tunable.info().name);
        // Other processes influence the effective resolution, so oversleep's requests are counted instead.
        if !matches!(found, Ok(Setting::Nanos(_))) {
            assert_eq!(tunable.current(), found, "{}", tunable.info().name);
        }
    }
    for wait in waits::registry() {
        count_in(COSTLY_USES, "unwinding", || unwinds_while_held(&platform, &*wait));
        nothing_is_requested("unwinding");
    }
    costly_entries_are_released();
    assert_eq!(tunables::outstanding(), 0);
}

#[test]
fn everything_is_released() {
    let this = std::env::current_exe().expect("the path of this program");
    let alone = "windows::released::everything_is_released_alone";
    let output = Command::new(this).args(["--ignored", "--exact", alone]).output().expect("started");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
