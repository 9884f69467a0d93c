//! Commands that change tasks, in the words of the system that they ran on. What a recording of another tool knows of tasks
//! are their names. How a program is started isn't in it, and its ids may be those of others today.

use oversleep_record::{Os, ResultFile};

use crate::read::{is_recording, way};

/// The longest name that the kernel has of a thread, and by which `pgrep` finds a process.
const COMM_MAX: usize = 15;

/// Whether another tool recorded it on a phone.
pub(super) fn is_of_android(file: &ResultFile) -> bool {
    is_recording(file) && way(file) == "android"
}

/// Whether a command can have that name, and the system has such commands.
fn is_typable(file: &ResultFile, name: &str) -> bool {
    let is_of_word = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.:/@".contains(&letter);
    let is_word = name.bytes().all(is_of_word) && !name.is_empty() && !name.starts_with('-');
    is_word && name.len() <= COMM_MAX && !file.platform.is(Os::Windows)
}

/// Runs a command for every thread of that name, with its id behind it.
fn threads(name: &str, command: &str) -> String {
    format!("grep -lxF {name} /proc/[0-9]*/task/*/comm | cut -d/ -f5 | xargs -rn1 {command}")
}

/// The command that moves the threads of that name to other CPUs, if it can be typed.
pub(super) fn move_threads(file: &ResultFile, name: &str) -> Option<String> {
    is_typable(file, name).then(|| match is_of_android(file) {
        // Its `taskset` takes no list of CPUs.
        true => format!(
            "# command as root in adb shell, with a mask in hexadecimal that has a bit for each CPU\n{}",
            threads(name, "taskset -p MASK")
        ),
        false => format!("# command, with the numbers of other CPUs\n{}", threads(name, "taskset -c -p N")),
    })
}

/// The command that moves the processes of that name to other CPUs, if it can be typed. A recording without processes names
/// threads, and so does the kernel of a phone.
pub(super) fn move_processes(file: &ResultFile, name: &str) -> Option<String> {
    let is_of_threads = file.observation.as_ref().is_some_and(|observation| observation.lacks_processes);
    if is_of_threads || is_of_android(file) {
        return move_threads(file, name);
    }
    is_typable(file, name).then(|| {
        format!(
            "# command, with the numbers of other CPUs\nfor p in $(pgrep -x {name}); do taskset -a -c -p N $p; done"
        )
    })
}

/// The command that gives the threads of that name a real-time priority, if it can be typed. That of a phone takes its
/// arguments in another order.
pub(super) fn raise_threads(file: &ResultFile, name: &str, priority: i64) -> Option<String> {
    let command = format!("chrt -f -p {priority}");
    (is_typable(file, name) && !is_of_android(file)).then(|| format!("# command\n{}", threads(name, &command)))
}

/// Whether the general command of a remedy says nothing about a recorded program: it starts the program or changes one of
/// its ids, and neither is in a recording.
pub(crate) fn is_beside_recording(file: &ResultFile, example: &str) -> bool {
    let is_command = is_recording(file) && example.starts_with("# command");
    let changes_it = ["taskset", "chrt", " PID", " TID"].iter().any(|word| example.contains(word));
    is_command && (changes_it || is_of_android(file) && example.contains("./app"))
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::{By, Observation};
    use oversleep_record::testing::Sheet;

    use super::*;

    fn recorded(recorder: &str, lacks_processes: bool) -> ResultFile {
        let observation = Observation {
            by: By::Recorder,
            recorder: Some(recorder.to_owned()),
            lacks_processes,
            ..Observation::default()
        };
        ResultFile { observation: Some(observation), ..Sheet::linux().file }
    }

    #[test]
    fn the_recorded_system_decides_the_words() {
        let perf = recorded("perf 6.1", false);
        let of = |file: &ResultFile, name: &str| {
            let command = move_processes(file, name).unwrap_or_default();
            command.split_once('\n').map(|(_, command)| command.to_owned()).unwrap_or_default()
        };
        assert_eq!(of(&perf, "rustc"), "for p in $(pgrep -x rustc); do taskset -a -c -p N $p; done");
        let by_thread = "grep -lxF kworker/u16:0 /proc/[0-9]*/task/*/comm | cut -d/ -f5 | xargs -rn1 taskset";
        assert_eq!(of(&recorded("trace-cmd 3.1", true), "kworker/u16:0"), format!("{by_thread} -c -p N"));
        let phone = recorded("Perfetto", false);
        assert_eq!(of(&phone, "kworker/u16:0"), format!("{by_thread} -p MASK"));
        assert_eq!(raise_threads(&phone, "app", 1), None);
        assert!(raise_threads(&perf, "app", 1).unwrap().ends_with("xargs -rn1 chrt -f -p 1"));
        for name in ["", "opt 9dlq", "-x", "$(reboot)", "a_very_long_name"] {
            assert_eq!(of(&perf, name), "", "{name}");
        }
        let windows = ResultFile { observation: perf.observation.clone(), ..Sheet::windows().file };
        assert_eq!(of(&windows, "game"), "");
    }

    #[test]
    fn a_recording_tells_no_program_to_start() {
        let example = "# command, with the number of the CPU\ntaskset -c N ./app";
        assert!(is_beside_recording(&recorded("perf 6.1", false), example));
        assert!(!is_beside_recording(&Sheet::linux().file, example));
        let lock = "# command\noversleep run --lock-memory -- ./app";
        assert_eq!(["perf 6.1", "Perfetto"].map(|of| is_beside_recording(&recorded(of, false), lock)), [false, true]);
    }
}
