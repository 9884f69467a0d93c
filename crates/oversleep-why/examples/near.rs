//! Prints events near unattributed waits of a recording: `near FILE`.
fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let r = oversleep_why::recording::Reader::new(&bytes).unwrap();
    let arch = r.meta.arch;
    let events: Vec<_> = r.collect();
    let mut m = oversleep_why::Machine::new(arch);
    events.iter().for_each(|e| m.feed(e));
    m.finish();
    for w in m.take().iter().filter(|w| w.parts.unattributed != 0).take(5) {
        println!("== {:?} lost {} late {} {:?}", w.outcome, w.lost_events, w.lateness_ns, w.parts);
        for e in events.iter().filter(|e| {
            (e.tid == w.tid || e.kind == oversleep_why::Kind::Run) && e.t > w.deadline && e.t < w.end + 200_000
        }) {
            println!(
                "{:>10} cpu{} {} {} {:?} x {} {:?}",
                e.t as i64 - w.deadline as i64,
                e.cpu,
                e.tid,
                oversleep_why::event::text(&e.name),
                e.kind,
                e.x,
                e.fields
            );
        }
    }
}
