use std::process::Command;
fn main() {
    let mut c = oversleep_collect::Collector::open(oversleep_collect::Options { everyone: false, children: true, tick_ns: 4_000_000 }).unwrap_or_else(|e| panic!("{e}"));
    let a: Vec<String> = std::env::args().skip(1).collect();
    let mut child = c.spawn(Command::new(&a[0]).args(&a[1..])).unwrap();
    let mut m = oversleep_why::Machine::new(oversleep_why::calls::Arch::X86_64);
    let mut n = 0;
    loop {
        let done = child.try_wait().unwrap().is_some();
        let mut ev = Vec::new();
        c.drain(&mut ev, done);
        for e in &ev { n += 1; if n < 60 { println!("{e:?}"); } m.feed(e); }
        if done { break; }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    m.finish();
    for w in m.take().iter().take(30) { println!("{:?} {:?} req {:?} late {} {:?} {:?} {:?}", w.call, w.outcome, w.requested_ns, w.lateness_ns, w.parts, w.culprits, w.irq_cause); }
    println!("{:?} {:?}", m.counts(), c.losses());
}
