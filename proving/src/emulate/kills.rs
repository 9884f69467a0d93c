//! Kills a process of an emulation at random moments, including while the program executes others. No process may be
//! left, stopped or not.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Bench, Verdict};

/// In the environment of all processes of a round.
const MARK: &str = "OVERSLEEP_KILLED_ROUND";
/// The time limit for the kernel to end killed processes, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let rounds = if bench.is_whole { 1_000 } else { 40 };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    println!("{rounds} rounds, seed {state:#x}");
    let mut killed = [0; 3];
    for round in 0..rounds {
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let mark = format!("{}-{round}", std::process::id());
        // Executes another program every few milliseconds, and waits in each.
        let script = "i=0; while [ $i -lt 400 ]; do sleep 0.001; sh -c 'sleep 0.001 & wait'; i=$((i+1)); done";
        let typed = ["sh".to_owned(), "-c".to_owned(), script.to_owned()];
        let mut command = bench.program(Some(&[]), &typed);
        command.env(MARK, &mark).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut front = command.spawn().map_err(|error| format!("can't start: {error}"))?;
        sleep(Duration::from_micros(random(120_000)));
        let children = children_of(front.id());
        let at = random(3) as usize;
        let victim = if at == 0 { Some(front.id()) } else { children.get(at - 1).copied() };
        if let Some(victim) = victim {
            let _ = Command::new("kill").args(["-9", &victim.to_string()]).stderr(Stdio::null()).status();
            killed[at] += 1;
        } else {
            let _ = front.kill();
        }
        let begun = Instant::now();
        let output = front.wait_with_output().map_err(|error| error.to_string())?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if stderr.contains("panicked") || output.status.signal() == Some(6) {
            println!("round {round}: a panic after killing {victim:?}: {stderr}");
            return Ok(Verdict::Fails);
        }
        loop {
            let left = processes_with(&mark);
            if left.is_empty() {
                break;
            }
            if begun.elapsed() > PATIENCE {
                println!("round {round}: after killing {victim:?}, these are left: {left:?}");
                return Ok(Verdict::Fails);
            }
            sleep(Duration::from_millis(5));
        }
    }
    println!(
        "killed: the typed process {}, its first child {}, its second {}; nobody was left",
        killed[0], killed[1], killed[2]
    );
    Ok(Verdict::Holds)
}

fn children_of(process: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The processes with the mark in their environment, with their state.
fn processes_with(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={mark}");
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let all =
        folder.flatten().filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()));
    all.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    })
    .map(|entry| std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default().chars().take(40).collect())
    .collect()
}
