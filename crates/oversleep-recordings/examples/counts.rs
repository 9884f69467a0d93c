//! Prints how often each tracepoint occurs in a recording, and its waits: `counts FILE [waits|first]`. With `first`, it
//! reads the file once only, to measure decoding by the processor's time.

use std::fs::File;
use std::time::Instant;

use oversleep_recordings::{SeekSource, recognise};
use oversleep_why::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &arguments[..] else { return Err("counts FILE [waits|first]".into()) };
    let mut head = vec![0; 65_536];
    let mut file = File::open(path)?;
    let count = std::io::Read::read(&mut file, &mut head)?;
    head.truncate(count);
    let format = recognise(&head).ok_or("it is no recording that is known")?;
    let source = SeekSource::new(file)?;
    let began = Instant::now();
    let mut opened = format.open(&source)?;
    let decoded = began.elapsed();
    for (name, count) in &opened.counts {
        println!("{count:>10} {name}");
    }
    if rest == ["first"] {
        return Ok(());
    }
    let mut machine = Machine::new(opened.meta.arch);
    let (mut events, mut waits) = (Vec::new(), 0);
    loop {
        opened.events(&mut events)?;
        if events.is_empty() {
            break;
        }
        events.iter().for_each(|event| machine.feed(event));
        for wait in machine.take() {
            waits += 1;
            if !rest.is_empty() {
                println!("{},{},{},{}", wait.tid, wait.end, wait.lateness_ns, wait.thread);
            }
        }
    }
    println!("{waits:>10} waits; first pass {decoded:?}, both {:?}", began.elapsed());
    Ok(())
}
