//! Lists of CPUs as kernels write them: `1`, `0,2-3`.

/// CPUs in ascending order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// The highest CPU number that any kernel is built for.
const CPU_MAX: u32 = 8_191;

/// A list of CPU numbers and ranges.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, text)?, number(last, text)?);
        if first > last {
            return Err(format!("'{part}' runs backwards; write {last}-{first}"));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(CpuList(numbers))
}

fn number(text: &str, all: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if number <= CPU_MAX => Ok(number),
        Ok(_) => Err(format!("a CPU number is at most {CPU_MAX}")),
        Err(_) => Err(format!("'{all}' is not a list of CPUs; write numbers and ranges, like 1 or 0,2-3")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_and_ranges() {
        for (text, list) in [("1", vec![1]), ("0,2-3", vec![0, 2, 3]), ("3,1-3,1", vec![1, 2, 3])] {
            assert_eq!(cpus(text), Ok(CpuList(list)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_list() {
        assert_eq!(cpus("3-1").unwrap_err(), "'3-1' runs backwards; write 1-3");
        assert_eq!(cpus("0-99999").unwrap_err(), "a CPU number is at most 8191");
        for text in ["", "x", "-1", "1,", "1-", "1.5", "99999999999"] {
            assert!(cpus(text).unwrap_err().contains("not a list of CPUs"), "{text}");
        }
    }
}
