//! Who ran instead of a thread that moved to another CPU while it waited.

use oversleep_why::Kind;
use oversleep_why::event::UNKNOWN_CPU;

use crate::splits::only;
use crate::stream::Stream;

/// A thread that moves while it waits for a CPU waits for whoever runs on the one that it is on.
#[test]
fn whoever_ran_did_so_where_the_thread_waited() {
    let ran = |moves: &[(u64, u32)]| {
        let mut stream = Stream::plain();
        let (wakeup, at) =
            (stream.find(Kind::Wakeup).t, stream.events.iter().position(|of| of.kind == Kind::In).unwrap());
        let runs = stream.events[at].t;
        stream.events[at].cpu = 1;
        for &(later, cpu) in moves.iter().rev() {
            let mut moved = stream.events[at];
            (moved.kind, moved.t, moved.x) = (Kind::Moved, wakeup + later, cpu);
            stream.events.insert(at, moved);
        }
        stream.run("hog", 77, (wakeup - 5_000, runs), (0, 120));
        let other = stream.run("other", 78, (wakeup - 5_000, runs), (0, 120));
        stream.events[other].cpu = 1;
        let returned = stream.events.iter().position(|of| of.kind == Kind::Return).unwrap();
        stream.events[returned].x += moves.len() as u32;
        let wait = only(&stream);
        assert_eq!(wait.lost_events, 0);
        wait.culprits.iter().map(|of| (of.name.clone(), of.ran_ns)).collect::<Vec<_>>()
    };
    let all = 3_000;
    let named = |of: &[(&str, u64)]| of.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect::<Vec<_>>();
    assert_eq!(ran(&[(1_000, 1)]), named(&[("other", all - 1_000), ("hog", 1_000)]));
    assert_eq!(ran(&[(0, 1)]), named(&[("other", all)]));
    assert_eq!(ran(&[(0, UNKNOWN_CPU)]), named(&[("tasks on CPU 0 or 1", all)]));
    assert_eq!(ran(&[(900, 2), (2_000, UNKNOWN_CPU)]), named(&[("hog", 900), ("tasks on CPU 1 or 2", 1_000)]));
    // The collector tells of no moves.
    assert_eq!(ran(&[]), named(&[("hog", all), ("other", all)]));
}
