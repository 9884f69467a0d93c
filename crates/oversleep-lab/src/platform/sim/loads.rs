//! Modelled load: threads that never sleep and compete for the CPUs.

use std::sync::Arc;

use oversleep_record::Unavailable;

use super::kernel::Kernel;
use crate::platform::interface::{Load, LoadInfo, LoadKind};

struct Spin {
    info: LoadInfo,
    kernel: Arc<Kernel>,
}

struct Hogs {
    slots: Vec<usize>,
    kernel: Arc<Kernel>,
}

impl Load for Hogs {}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.kernel.remove_hogs(&self.slots);
    }
}

impl LoadKind for Spin {
    fn info(&self) -> &LoadInfo {
        &self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        Ok(Box::new(Hogs { slots: self.kernel.add_hogs(hogs), kernel: Arc::clone(&self.kernel) }))
    }
}

pub(super) fn registry(kernel: &Arc<Kernel>) -> Vec<Box<dyn LoadKind>> {
    let info = LoadInfo { name: "spin", doc: "Modelled threads that never sleep." };
    vec![Box::new(Spin { info, kernel: Arc::clone(kernel) })]
}
