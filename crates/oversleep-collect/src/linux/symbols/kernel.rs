//! Names of kernel addresses.

use std::fs::File;
use std::io::{BufRead, BufReader};

/// More than any function has in bytes.
const FUNCTION_MAX: u64 = 1 << 20;

/// The functions at those addresses, in ascending order; empty if the kernel hides them (`kptr_restrict`).
pub fn names(addresses: &[u64]) -> Vec<(u64, String)> {
    if addresses.is_empty() {
        return Vec::new();
    }
    let Ok(list) = File::open("/proc/kallsyms") else { return Vec::new() };
    of(BufReader::new(list).lines().map_while(Result::ok), addresses)
}

fn of(lines: impl Iterator<Item = String>, addresses: &[u64]) -> Vec<(u64, String)> {
    // The nearest function below each address; the list isn't sorted.
    let mut nearest: Vec<(u64, String)> = vec![(0, String::new()); addresses.len()];
    for line in lines {
        let mut fields = line.splitn(3, ' ');
        let Some(at) = fields.next().and_then(|at| u64::from_str_radix(at, 16).ok()).filter(|&at| at != 0) else {
            continue;
        };
        if !fields.next().is_some_and(|kind| matches!(kind, "t" | "T" | "w" | "W")) {
            continue;
        }
        let Some(name) = fields.next() else { continue };
        let first = addresses.partition_point(|&address| address < at);
        for (found, _) in nearest[first..].iter_mut().zip(&addresses[first..]) {
            // All further addresses have a nearer one.
            if found.0 >= at {
                break;
            }
            *found = (at, name.replace('\t', " "));
        }
    }
    // An address far beyond every function is in none of the list: a program that was loaded into the kernel.
    let is_within = |address: u64, at: u64| address - at < FUNCTION_MAX;
    let named = addresses.iter().zip(nearest);
    let named = named.filter(|&(&address, (at, ref name))| !name.is_empty() && is_within(address, at));
    named.map(|(&address, (at, name))| (address, format!("{name}+{:#x}", address - at))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_address_is_in_the_nearest_function_below_it() {
        let list = "ffffffff81000000 T _text\nffffffff81000200 t do_nanosleep\nffffffff81000100 T schedule\n\
                    ffffffff81000300 D data\nffffffffc0000000 t wait_for_it\t[driver]\n";
        let names = super::of(
            list.lines().map(str::to_owned),
            &[0xffff_ffff_8100_0150, 0xffff_ffff_8100_0210, 0xffff_ffff_c000_0004],
        );
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["schedule+0x50", "do_nanosleep+0x10", "wait_for_it [driver]+0x4"]);
        assert!(super::of(list.lines().map(str::to_owned), &[0xffff_ffff_bc83_234e]).is_empty());
        let hidden = "0000000000000000 T _text\n";
        assert!(super::of(hidden.lines().map(str::to_owned), &[5]).is_empty());
    }
}
