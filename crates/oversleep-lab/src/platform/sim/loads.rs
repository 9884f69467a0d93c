//! Modelled load: a number of hogs, each of which adds the run-queue delay its machine states.

use std::sync::Arc;

use oversleep_record::Unavailable;

use super::kernel::Kernel;
use crate::platform::interface::{Load, LoadInfo, LoadKind};

struct Spin {
    info: LoadInfo,
    kernel: Arc<Kernel>,
}

struct Hogs {
    count: u32,
    kernel: Arc<Kernel>,
}

impl Load for Hogs {}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.kernel.add_hogs(-i64::from(self.count));
    }
}

impl LoadKind for Spin {
    fn info(&self) -> &LoadInfo {
        &self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        self.kernel.add_hogs(i64::from(hogs));
        Ok(Box::new(Hogs { count: hogs, kernel: Arc::clone(&self.kernel) }))
    }
}

pub(super) fn registry(kernel: &Arc<Kernel>) -> Vec<Box<dyn LoadKind>> {
    let info = LoadInfo { name: "spin", doc: "Modelled threads that never sleep." };
    vec![Box::new(Spin { info, kernel: Arc::clone(kernel) })]
}
