//! The processes of a job: how the program is started (`start`), why it can't be (`refusal`), how the processes talk to each
//! other and to others (`socket`, `notes`), and what each supervisor does first (`supervising`).

pub mod notes;
pub mod refusal;
pub mod socket;
pub mod start;
pub mod supervising;
