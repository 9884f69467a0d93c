//! Who is named for a wait for a CPU, and whether the advice can be followed.

use oversleep_record::finding::Verdict;
use oversleep_record::observed::Observation;
use oversleep_record::part::Parts;
use oversleep_record::testing::Sheet;

use super::*;
use crate::observed::testing::waits;

fn task(name: &str, (policy, prio): (u32, i32), whose: Whose, why: Why) -> Blame {
    let (name, total_ns) = (name.to_owned(), 50_000_000);
    Blame {
        name,
        tgid: 9,
        tid: 9,
        policy,
        prio,
        why,
        is_pinned: false,
        whose,
        count: 12,
        total_ns,
        max_ns: total_ns / 12,
    }
}

/// The first sentence and the advice for a thread of that policy behind that task, in a program that runs or has ended.
fn concluded(own: (u32, i32), blame: Blame, target: &str) -> (Severity, String, String) {
    let mut series = waits(1, 12, Parts { runq: 5_000_000, ..Parts::default() });
    let observed = series.observed.as_mut().unwrap();
    (observed.policy, observed.blames, observed.tgid) = (Some(own), vec![blame], 77);
    observed.cpus_allowed = target.strip_prefix("one CPU: ").map(|_| 1);
    let mut file = Sheet::linux().file;
    let observation = Observation { target: target.to_owned(), ..Observation::default() };
    (file.series, file.observation) = (vec![series], Some(observation));
    let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y015").expect("it is checked");
    assert_eq!(found.verdict, Verdict::Found);
    let advice: Vec<String> = found.advice.iter().map(|advice| advice.sentence.clone()).collect();
    (found.severity, found.sentence, advice.join(" | "))
}

const FAIR_0: (u32, i32) = (0, 120);

#[test]
fn a_thread_that_goes_last_by_its_own_policy_is_told_so_first() {
    let hog = || task("hog", FAIR_0, Whose::Program, Why::HigherPolicy);
    let (_, sentence, advice) = concluded((5, 120), hog(), "./app");
    assert_eq!(
        sentence,
        "app: nanosleep for 1 ms waits for a CPU because it runs at SCHED_IDLE, after every other task: 60 ms in all, 5 ms \
         at most, while hog (SCHED_OTHER, nice 0) ran"
    );
    assert!(advice.starts_with("Start the program without SCHED_IDLE"), "{advice}");
    let (_, sentence, advice) = concluded((0, 139), hog(), "process 77");
    assert!(sentence.contains("at nice 19, where a task at nice 0 gets about 69 times as much of a CPU"), "{sentence}");
    assert!(advice.contains("renice -n 0 -p 77") && !advice.contains("chrt"), "{advice}");
    let real_time = task("control", (1, 49), Whose::Program, Why::HigherPolicy);
    let (_, sentence, _) = concluded((0, 139), real_time, "./app");
    assert!(sentence.contains("while control (SCHED_FIFO, priority 50) runs"), "no nice value helps: {sentence}");
    let equal = task("peer", (0, 139), Whose::Program, Why::TurnNotOver);
    assert!(concluded((0, 139), equal, "./app").1.contains("while peer (SCHED_OTHER, nice 19) runs"));
}

#[test]
fn an_ordinary_task_that_delays_a_real_time_thread_for_long_has_reserved_time() {
    let task = |max_ns| Blame { max_ns, ..task("sh", FAIR_0, Whose::Program, Why::NotYetPreempted) };
    let (_, sentence, advice) = concluded((1, 49), task(45_000_000), "./app");
    assert!(sentence.contains("while sh (SCHED_OTHER, nice 0) runs, in the time that the kernel keeps"), "{sentence}");
    assert!(advice.contains("95 % of a second") && !advice.contains("PREEMPT_RT"), "{advice}");
    assert!(!concluded((1, 49), task(3_000_000), "./app").1.contains("keeps"));
    assert!(!concluded(FAIR_0, task(45_000_000), "./app").1.contains("keeps"), "it isn't a real-time thread");
}

#[test]
fn advice_can_be_followed() {
    let hog = || task("hog", FAIR_0, Whose::Program, Why::TurnNotOver);
    let (_, _, running) = concluded(FAIR_0, hog(), "process 77");
    assert!(
        running.contains("chrt -a -f -p 1 77") && running.contains("renice -n 19 -p $(ls /proc/9/task)"),
        "{running}"
    );
    let (_, _, ended) = concluded(FAIR_0, hog(), "./app");
    assert!(ended.contains("chrt -f 1 ./app"), "{ended}");
    let (_, _, kernel) = concluded(FAIR_0, task("kworker/1:2", FAIR_0, Whose::Kernel, Why::TurnNotOver), "./app");
    assert!(kernel.contains("kworker/1:2 is a thread of the kernel") && !kernel.contains("renice"), "{kernel}");
    let (severity, sentence, own) = concluded(FAIR_0, task("ov", FAIR_0, Whose::Collector, Why::TurnNotOver), "./app");
    assert!(severity == Severity::Note && sentence.contains("while oversleep itself runs"), "{sentence}");
    assert!(own.contains("cost of following") && !own.contains("renice"), "{own}");
    let (_, _, idle) = concluded(FAIR_0, task("deadline", (6, -1), Whose::Program, Why::HigherPolicy), "./app");
    assert!(!idle.contains("priority"), "{idle}");
}

#[test]
fn a_thread_that_may_use_one_cpu_only_is_told_so() {
    let hog = || task("hog", FAIR_0, Whose::Program, Why::TurnNotOver);
    let (_, sentence, advice) = concluded(FAIR_0, hog(), "one CPU: ./app");
    assert!(sentence.contains("while hog (SCHED_OTHER, nice 0) runs on the only CPU that it may use: "), "{sentence}");
    assert!(advice.starts_with("Let app use more than one CPU"), "{advice}");
    assert!(advice.contains("keep hog away from that one"), "{advice}");
    let own = Blame { whose: Whose::Own, is_pinned: true, ..hog() };
    assert!(concluded(FAIR_0, own, "one CPU: ./app").2.starts_with("Let the program use more CPUs"));
    assert!(!concluded(FAIR_0, hog(), "./app").1.contains("only CPU"));
}

#[test]
fn a_task_of_the_program_s_name_is_told_from_it_where_its_process_is_known() {
    let namesake = |tgid| Blame { tgid, ..task("app", FAIR_0, Whose::Program, Why::TurnNotOver) };
    let sentence = |tgid| concluded(FAIR_0, namesake(tgid), "./app").1;
    assert!(sentence(9).contains("while another app (process 9, SCHED_OTHER, nice 0) runs"), "{}", sentence(9));
    assert!(sentence(0).contains("while app (SCHED_OTHER, nice 0) runs"), "{}", sentence(0));
}

#[test]
fn on_windows_the_advice_is_windows_own() {
    let hog = |prio| task("hog.exe", (WINDOWS_POLICY, prio), Whose::Program, Why::HigherPriority);
    let (_, sentence, advice) = concluded((WINDOWS_POLICY, 23), hog(19), "");
    assert!(sentence.contains("waits for a CPU while hog.exe (priority 12) runs"), "{sentence}");
    assert!(advice.contains("Keep hog.exe away") && advice.contains("above 12: SetThreadPriority"), "{advice}");
    assert!(!advice.contains("taskset") && !advice.contains("chrt"), "{advice}");
    // In PowerShell, `start` is another command.
    let command = behind_on_windows(&Sheet::windows().file, Conclusion::found(""), &hog(19), false, "app").instance;
    let example = command.and_then(|instance| instance.in_words[0].example.clone()).unwrap_or_default();
    assert!(example.ends_with("\ncmd /c start /affinity MASK PROGRAM"), "{example}");
    let (_, _, advice) = concluded((WINDOWS_POLICY, 23), Blame { whose: Whose::Own, ..hog(19) }, "");
    assert!(advice.contains("these are its own") && !advice.contains("taskset"), "{advice}");
}
