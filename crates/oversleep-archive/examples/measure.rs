//! What a large archive costs: `measure add DIR ROWS [HOSTS]` makes one of rows with 240 buckets, hour by hour of so many
//! hosts (1,000), `measure query DIR`, `measure sql DIR` and `measure report DIR` ask it. Each prints the CPU time and the
//! memory that it took, as Linux counts them.

use std::path::Path;

use oversleep_archive::store::{Adding, Archive};
use oversleep_archive::{Digits, Filter, FleetOfRows, Gathering, Machine, Row, sql, views};

/// Rows of eight kernels on so many machines, an hour apart.
fn row(number: i64, hosts: i64) -> Row {
    let mut row = Row {
        source: format!("{:016x}", (number % hosts).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())),
        content: number,
        taken_us: 1_700_006_400_000_000 + number / hosts * 3_600_000_000,
        seconds: 3_600.0,
        tool: "oversleep 0.1.0".to_owned(),
        machine: Machine {
            os: "linux".to_owned(),
            kernel: Some(format!("6.{}.0", number % 8)),
            cpu_model: Some("AMD EPYC 7763 64-Core Processor".to_owned()),
            cpus: Some(2),
            hypervisor: Some("kvm".to_owned()),
            ..Machine::default()
        },
        experiment: "S1".to_owned(),
        subject: "nanosleep".to_owned(),
        quantity: "lateness".to_owned(),
        unit: "ns".to_owned(),
        request_ns: Some(1_000_000),
        ..Row::default()
    };
    // Buckets around 66 µs, as three significant digits have them, with counts that fall to either side.
    let first = 50_000 + number * 37 % 4_000;
    row.hi = (0..240).map(|at| (first + at * 64) | 63).collect();
    row.n = (0..240).map(|at: i64| 1 + 400 / (1 + (at - 80).abs()) + (number + at) % 3).collect();
    row.count = row.n.iter().sum();
    row.sum = row.hi.iter().zip(&row.n).map(|(hi, n)| (hi * n) as f64).sum();
    (row.min, row.max) = (Some(first), row.hi.last().copied());
    row
}

/// CPU time and the most memory of this process.
fn cost() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let stat = read("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
    let status = read("/proc/self/status");
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned();
    format!("{:.2} CPU-s, {peak}", (ticks(11) + ticks(12)) as f64 / 100.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["add", folder, rows, ref hosts @ ..] => {
            let hosts = hosts.first().map_or(Ok(1_000), |hosts| hosts.parse())?;
            let archive = Archive::open_or_make(Path::new(folder))?;
            let mut adding = Adding::begin(&archive, Digits::Three)?;
            for number in 0..rows.parse()? {
                adding.add_rows(vec![row(number, hosts)])?;
            }
            adding.finish()?;
        }
        ["query", folder] => {
            let archive = Archive::open(Path::new(folder))?;
            let mut gathering = Gathering::new("p50 p99 count by kernel".parse()?, Filter::default(), false);
            archive.gather(&mut gathering)??;
            gathering.finish().for_programs().iter().for_each(|line| println!("{}", line.join(",")));
        }
        ["report", folder] => {
            let fleet = FleetOfRows::of(&Archive::open(Path::new(folder))?, &Filter::default())?.judge();
            println!("{} hosts, {} rows, {} findings", fleet.hosts, fleet.rows, fleet.findings.len());
        }
        ["sql", folder] => {
            let table = sql::answer(&Archive::open(Path::new(folder))?, views::PORTABLE)?;
            table.rows.iter().for_each(|row| println!("{row:?}"));
        }
        _ => return Err("measure add DIR ROWS [HOSTS] | query DIR | report DIR | sql DIR".into()),
    }
    println!("{}", cost());
    Ok(())
}
