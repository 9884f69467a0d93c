//! The ground truth of `oversleep why`: a known time is burnt at each stage of a wait, and programs do what the split
//! should show. It needs root and takes some minutes, so it is no test: `cargo xtask why-truth` runs it.

#[cfg(target_os = "linux")]
mod inject;
#[cfg(target_os = "linux")]
mod observe;
#[cfg(target_os = "linux")]
mod scenarios;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(what) = args.first().and_then(|first| first.strip_prefix("victim=")) {
        victim::run(what);
        return ExitCode::SUCCESS;
    }
    let is_named = |name: &str| args.is_empty() || args.iter().any(|arg| name.contains(arg.as_str()));
    let mut failed = 0;
    let mut tell = |name: &str, ended: Result<String, String>| {
        let (word, text) = match ended {
            Ok(text) => ("ok     ", text),
            Err(text) if text.starts_with("SKIPPED") => ("SKIPPED", text),
            Err(text) => {
                failed += 1;
                ("FAILED ", text)
            }
        };
        println!("{word}  {name:<24} {text}");
    };
    for stage in inject::STAGES.iter().filter(|stage| is_named(stage.name)) {
        tell(stage.name, inject::check(stage));
    }
    for (name, scenario) in scenarios::ALL.iter().filter(|(name, _)| is_named(name)) {
        tell(name, scenario());
    }
    ExitCode::from(u8::from(failed != 0))
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the ground truth of why needs Linux");
}
