//! The rows, in one file per kind.

mod ends;
mod files;
mod groups;
mod injection;
mod limits;
mod outputs;
mod policies;
mod programs;
mod signals;
mod system;
mod wrapped;

use super::row::Row;

/// The input files of rows.
pub struct Material {
    /// A result that the command has just written.
    pub result: Vec<u8>,
}

/// Every row.
pub fn rows(material: &Material) -> Vec<Row> {
    let mut rows = signals::rows(material);
    rows.extend(outputs::rows(material));
    rows.extend(system::rows());
    rows.extend(limits::rows(material));
    rows.extend(groups::rows());
    rows.extend(policies::rows());
    rows.extend(programs::rows());
    rows.extend(wrapped::rows());
    rows.extend(ends::rows());
    rows.extend(files::rows(material));
    rows.extend(injection::rows(material));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own_and_something_to_run() {
        let rows = rows(&Material { result: b"{\"a\":{\"b\":\"c\",\"d\":[1]}}".to_vec() });
        for (index, row) in rows.iter().enumerate() {
            let same = rows[..index].iter().find(|other| (other.kind, &other.name) == (row.kind, &row.name));
            assert!(same.is_none(), "{}: {} is there twice", row.kind, row.name);
            assert!(!row.cases.is_empty(), "{} has no case", row.name);
        }
    }
}
