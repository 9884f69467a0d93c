//! That each wait of Linux gives its system call what its description says: a child makes every wait while this process
//! traces its system calls and reads their arguments. No harness: the child must have one thread.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod tracer;

#[cfg(target_os = "linux")]
fn main() {
    // A filter that names something else leaves this test out.
    let filters = || std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    if filters().next().is_some() && !filters().any(|filter| "traced_waits".contains(&filter)) {
        return;
    }
    compare::run();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    oversleep_testing::skip("it traces system calls of Linux");
}
