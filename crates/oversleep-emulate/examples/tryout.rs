fn main() {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let name = args[0].to_str().unwrap();
    let (name, res) = name.split_once('@').map_or((name, None), |(n, r)| (n, Some(oversleep_record::Nanos(r.parse().unwrap()))));
    let plan = oversleep_emulate::plan::Plan::of(oversleep_model::machine(name, &[], 1).unwrap()).unwrap();
    let r = oversleep_emulate::run(oversleep_emulate::Request { plan, resolution: res, program: args[1..].to_vec() });
    match r {
        Ok(e) => {
            if std::env::var_os("REP").is_some() { eprintln!("{:#?}", e.report); }
            if let Some(s) = e.signal { oversleep_emulate::end_by(s); }
            std::process::exit(e.code)
        }
        Err(e) => { eprintln!("error: {e}"); std::process::exit(e.code()) }
    }
}
