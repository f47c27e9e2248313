//! The report: `report.json` for programs, `report.html` for people.

mod chart;
mod facts;
mod headline;
mod json;
mod lanes;
mod page;
mod scale;
mod series;
mod tiles;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use crate::{
    kind::RunKind,
    outcome::{Outcome, Summary},
    run::Stage,
    verdict::Verdict,
};

/// Everything that is reported.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What the runs had in common.
    pub stage: &'a Stage,
    /// The runs, in order.
    pub outcomes: &'a [Outcome],
    /// Their numbers.
    pub summaries: &'a BTreeMap<RunKind, Summary>,
    /// What the numbers say.
    pub verdicts: &'a [Verdict],
}

impl Report<'_> {
    /// Writes both files into `folder`, and says where the page is.
    ///
    /// # Errors
    ///
    /// When a file can't be written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("report.json"), json::render(self.summaries)?)?;
        let page = folder.join("report.html");
        std::fs::write(&page, page::render(self).map_err(io::Error::other)?)?;
        Ok(page)
    }
}
