//! How to record what `oversleep why` reads, with what is installed elsewhere: commands and configurations to paste.

/// Where, or with what, is recorded.
#[derive(Debug)]
pub struct Way {
    /// As it is named on the command line.
    pub name: &'static str,
    /// What to paste.
    pub text: &'static str,
}

/// Every way.
pub const WAYS: &[Way] = &[
    Way { name: "linux", text: include_str!("how_to/linux.txt") },
    Way { name: "android", text: include_str!("how_to/android.txt") },
    Way { name: "windows", text: include_str!("how_to/windows.txt") },
    Way { name: "trace-cmd", text: include_str!("how_to/trace-cmd.txt") },
];

#[cfg(test)]
mod tests {
    use super::WAYS;

    #[test]
    fn windows_is_told_what_its_traces_are_said_to_lack() {
        let text = WAYS.iter().find(|way| way.name == "windows").unwrap().text;
        for (_, event) in crate::windows::EVERY {
            assert!(text.contains(event), "{event}");
        }
        assert!(!text.contains("Compact"));
        // Both ways save what was requested before the trace began.
        let [state, end] = ["xperf -capturestate Power", "xperf -stop Power"].map(|line| text.find(line).unwrap());
        assert!(state < end && text.contains("CaptureStateOnSave"));
        // Each element ends in the order in which it began.
        let xml = text.split("?>").nth(1).unwrap().split("'@").next().unwrap();
        let mut open = Vec::new();
        for tag in xml.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty() && xml.is_ascii());
    }
}
