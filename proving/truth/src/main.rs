//! The ground truth of `oversleep why`: a known time is burnt at each stage of a wait, and programs do what the split
//! should show. It needs root and takes some minutes, so it is no test: `cargo prove why-truth` runs it.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

fn main() -> std::process::ExitCode {
    system::main()
}
