//! Results of other programs' files: what would tell more has to be measured where they were measured.

/// How texts of a run say what tells more, and what does where another program measured.
const SAID: [(&str, &str); 4] = [
    ("Use --thorough or --count", "On that machine, `oversleep check` measures it"),
    ("Use --thorough", "On that machine, `oversleep check` measures it"),
    ("Close other programs or use --thorough", "On that machine, `oversleep check` measures it"),
    (". Run `oversleep", ". On that machine, run `oversleep"),
];

/// The next step that a reason names, as that of a file of another program.
pub(super) fn next_step(reason: &str) -> String {
    let reason = SAID.iter().fold(reason.to_owned(), |reason, (of_run, of_file)| reason.replace(of_run, of_file));
    // Few other programs have rounds, and none of them is asked for more.
    reason.replace("was measured in 0 rounds", "has no rounds in this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_program_is_asked_for_nothing_that_it_has_no_option_for() {
        for (reason, said) in [
            (
                "B5/x/1ms was measured in 0 rounds and a conclusion needs 3 that agree. Use --thorough",
                "B5/x/1ms has no rounds in this file and a conclusion needs 3 that agree. On that machine, `oversleep \
                 check` measures it",
            ),
            (
                "B5/poll/100ms was not measured. Run `oversleep check --only B5`",
                "B5/poll/100ms was not measured. On that machine, run `oversleep check --only B5`",
            ),
            (
                "x has 4 values and a conclusion needs 30. Use --thorough or --count",
                "x has 4 values and a conclusion \
             needs 30. On that machine, `oversleep check` measures it",
            ),
        ] {
            assert_eq!(next_step(reason), said);
        }
    }
}
