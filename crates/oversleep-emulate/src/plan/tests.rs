use oversleep_record::Nanos;

use super::*;

fn plan(machine: &str, set: &[&str]) -> Plan {
    let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
    Plan::of(oversleep_model::machine(machine, &set, 1).unwrap()).unwrap()
}

#[test]
fn every_class_has_a_wait_on_every_machine_that_has_waits() {
    for name in oversleep_model::names() {
        let plan = plan(name, &[]);
        for &class in Class::ALL {
            assert!(plan.wait(class).is_some(), "{name}: {class:?} is {:?}", class.wait_of(&plan.machine.os));
        }
    }
}
