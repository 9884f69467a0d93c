//! Calls as they stand in the code.

use super::super::question::Subject;
use super::*;

#[test]
fn a_call_is_read_as_it_stands_in_the_code() {
    for (text, request) in [
        ("Sleep(1)", "1ms"),
        ("WaitForSingleObject(event, 15)", "15ms"),
        ("usleep(100)", "100us"),
        ("Thread.sleep(1)", "1ms"),
        ("Thread.sleep@java-17(1)", "1ms"),
        ("LockSupport.parkNanos(1_000_000)", "1ms"),
        ("LockSupport.parkNanos(this, 1000000)", "1ms"),
        ("time.sleep(0.001)", "1ms"),
        ("time.Sleep(100)", "100ns"),
        ("time.Sleep(time.Millisecond)", "1ms"),
        ("time.Sleep(5 * time.Millisecond)", "5ms"),
        ("thread::sleep(Duration::from_micros(300))", "300us"),
        ("thread::sleep(Duration::from_secs_f64(0.0015))", "1500us"),
        ("sleep_for(std::chrono::milliseconds(1))", "1ms"),
        ("Task.Delay(TimeSpan.FromMilliseconds(10))", "10ms"),
        ("Thread.sleep(Duration.ofMillis(3))", "3ms"),
        ("BlockingQueue.poll(1, TimeUnit.MILLISECONDS)", "1ms"),
        ("setTimeout(() => {}, 1)", "1ms"),
        ("epoll_wait(fd, events, 8, 1)", "1ms"),
        ("Thread.sleep(1L);", "1ms"),
        ("await Task.Delay(1)", "1ms"),
        ("scheduler.scheduleAtFixedRate(task, 0, 10, TimeUnit.MILLISECONDS)", "10ms"),
        ("executor.schedule(task, 10L, TimeUnit.MICROSECONDS)", "10us"),
        ("std::this_thread::sleep_for(std::chrono::milliseconds(1))", "1ms"),
        ("time.Sleep(1 * time.Millisecond)", "1ms"),
        ("await asyncio.sleep(0.001)", "1ms"),
        ("time.sleep(1e-3)", "1ms"),
        ("time.sleep(1/1000)", "1ms"),
        ("lock.acquire(timeout=0.01)", "10ms"),
        ("Thread.Sleep(TimeSpan.FromMilliseconds(1))", "1ms"),
        ("tokio::time::sleep(Duration::from_millis(1)).await?;", "1ms"),
        ("java.lang.Thread.sleep(1)", "1ms"),
        ("Process.sleep(1)", "1ms"),
        (":timer.sleep(1)", "1ms"),
        ("pygame.time.wait(1)", "1ms"),
        ("SDL_Delay(1)", "1ms"),
        ("new PeriodicTimer(TimeSpan.FromMilliseconds(16))", "16ms"),
        ("setInterval(…, 16)", "16ms"),
        ("ticker := time.NewTicker(10 * time.Millisecond)", "10ms"),
        ("Thread.sleep(3L)", "3ms"),
        ("Thread.sleep(0x10)", "16ms"),
        ("Thread.sleep(1_000)", "1s"),
        ("Thread.sleep(0, 500000)", "500us"),
        ("Thread.sleep(Duration.ofDays(1))", "24h"),
        ("Thread.sleep(Duration.ofMinutes(2))", "2min"),
        ("Thread.sleep(Duration.ofSeconds(1).toMillis())", "1s"),
        ("Thread.Sleep(TimeSpan.FromDays(1))", "24h"),
        ("Thread.Sleep(TimeSpan.FromMilliseconds(1.5))", "1500us"),
        ("std::this_thread::sleep_for(std::chrono::days(1));", "24h"),
        ("std::this_thread::sleep_for(std::chrono::hours{1})", "1h"),
        ("std::this_thread::sleep_for(std::chrono::microseconds(100)); // short", "100us"),
        ("sleep_for(1min)", "1min"),
        ("time.Sleep(time.Hour)", "1h"),
        ("asyncio.sleep(timedelta(days=1).total_seconds())", "24h"),
        ("thread::sleep(Duration::from_mins(1))", "1min"),
        ("thread::sleep(Duration::from_hours(1));", "1h"),
        (":timer.sleep(:timer.hours(1))", "1h"),
        ("time.sleep(.5)  # half a second", "500ms"),
        ("SpinWait.SpinOnce()", "1ms"),
        ("spinner.SpinOnce();", "1ms"),
        ("setTimeout(updateSeconds, 16)", "16ms"),
        ("setTimeout(f,-5)", "0ns"),
        ("await new Promise(r => setTimeout(r, 1))", "1ms"),
        ("await new Promise(function (done) { setTimeout(done, 20); });", "20ms"),
        ("threading.Event().wait(0.001)", "1ms"),
        ("thread::sleep(Duration::from_secs_f64(1e-3))", "1ms"),
        ("obj.wait(1)", "1ms"),
        ("lock.wait(1L);", "1ms"),
        ("cond.wait(timeout=0.01)", "10ms"),
        ("q.poll(1, TimeUnit.MILLISECONDS)", "1ms"),
        ("this.queue.poll(1, TimeUnit.MILLISECONDS)", "1ms"),
        ("task::sleep(Duration::from_millis(1)).await", "1ms"),
        ("TimeUnit.MILLISECONDS.sleep(1);", "1ms"),
        ("TimeUnit.NANOSECONDS.sleep(500)", "500ns"),
        ("java.util.concurrent.TimeUnit.MICROSECONDS.sleep(100L)", "100us"),
        ("SECONDS.sleep(2)", "2s"),
        ("TimeUnit.MINUTES.sleep(2)", "2min"),
        ("TimeUnit.HOURS.sleep(1)", "1h"),
        ("TimeUnit.DAYS.sleep(3)", "72h"),
        ("new Timer(cb, null, 0, 5)", "5ms"),
        ("new Timer(cb, null, 20, Timeout.Infinite)", "20ms"),
        ("timer.schedule(task, 0, 20)", "20ms"),
        ("timer.schedule(task, 20)", "20ms"),
        ("timer.scheduleAtFixedRate(task, 0, 20)", "20ms"),
        ("clock.tick(60)", "16666667ns"),
        ("clock.tick(50)  # frames a second", "20ms"),
        ("Sleep(3d)", "72h"),
        ("time.sleep(1d)", "24h"),
        ("_ = new System.Threading.Timer(_ => Tick(1, 2), null, 0, 16);", "16ms"),
        ("time.NewTimer(10 * time.Millisecond)", "10ms"),
        ("time.AfterFunc(time.Millisecond, f)", "1ms"),
        ("time.AfterFunc(10*time.Millisecond, func() { done(1, 2) })", "10ms"),
        ("scheduler.scheduleWithFixedDelay(task, 0, 10, TimeUnit.MILLISECONDS)", "10ms"),
        ("timer:sleep(1).", "1ms"),
        ("timer:send_interval(10, tick).", "10ms"),
        ("timer:send_interval(10, self(), tick)", "10ms"),
        (":timer.send_interval(10, :tick)", "10ms"),
    ] {
        let Subject::Wait { request: read, .. } = text.parse().unwrap_or_else(|error| panic!("{error}")) else {
            panic!("{text}")
        };
        assert_eq!(Ok(read), request.parse(), "{text}");
    }
}

#[test]
fn another_way_to_make_a_call_is_that_call() {
    for (text, call) in [
        ("TimeUnit.SECONDS.sleep(1)", "Thread.sleep(1s)"),
        ("new Timer(cb, null, 0, 5)", "System.Threading.Timer(5ms)"),
        ("new Timer(cb, null, 20, -1)", "once.System.Threading.Timer(20ms)"),
        ("new Timer(cb, null, 20, Timeout.Infinite)", "once.System.Threading.Timer(20ms)"),
        ("timer.schedule(task, 20)", "Timer.schedule(20ms)"),
        ("timer.scheduleAtFixedRate(task, 0, 20)", "Timer.scheduleAtFixedRate(20ms)"),
        ("executor.schedule(task, 10L, TimeUnit.MICROSECONDS)", "ScheduledExecutorService.schedule(10us)"),
        ("timer:send_interval(10, tick).", "timer:send_interval(10ms)"),
        ("time.NewTimer(1ms)", "time.Timer(1ms)"),
        ("t := time.AfterFunc(1ms, f)", "time.Timer(1ms)"),
        ("scheduleWithFixedDelay(1ms)", "ScheduledExecutorService.schedule(1ms)"),
        ("pool.scheduleWithFixedDelay(task, 0, 10L, TimeUnit.MICROSECONDS)", "ScheduledExecutorService.schedule(10us)"),
        ("Thread.sleep(1)", "Thread.sleep(1ms)"),
    ] {
        assert_eq!(text.parse::<Subject>().expect(text).to_string(), call);
    }
}

#[test]
fn a_call_is_known_whatever_it_is_called_on() {
    for (typed, known) in [
        ("scheduler.scheduleAtFixedRate", "scheduleAtFixedRate"),
        ("executor.schedule", "ScheduledExecutorService.schedule"),
        ("java.lang.Thread.sleep", "Thread.sleep"),
        ("lock.acquire", "Lock.acquire"),
        (":timer.sleep", "timer:sleep"),
        ("thread.sleep", "thread.sleep"),
        ("nanosleep", "nanosleep"),
        ("oversleep::sleep_until", "oversleep::sleep_until"),
    ] {
        assert_eq!(canonical(typed, "1ms").as_deref(), Ok(known), "{typed}");
    }
}

#[test]
fn the_argument_decides_between_calls_of_one_name() {
    for (typed, argument, known) in [
        ("q.poll", "1, TimeUnit.MILLISECONDS", "BlockingQueue.poll"),
        ("lock.wait", "1L", "Object.wait"),
        ("obj.wait", "1", "Object.wait"),
        ("cond.wait", "timeout=0.01", "threading.Condition.wait"),
        ("threading.Event.wait", "0.001", "threading.Event.wait"),
        ("async_std::task::sleep", "Duration::from_millis(1)", "task::sleep"),
    ] {
        assert_eq!(canonical(typed, argument).as_deref(), Ok(known), "{typed}({argument})");
    }
    for call in ["sdl.Delay", "UniTask.Delay", "embassy_time::Timer"] {
        assert_eq!(canonical(call, "1").as_deref(), Ok(call), "it is no method of an object");
    }
    for (call, meant) in [
        ("std.time.sleep", "time.sleep"),
        ("boost::this_thread::sleep_for", "this_thread::sleep_for"),
        ("tokio::task::sleep", "task::sleep"),
    ] {
        let refused = canonical(call, "1ms").expect_err("it is of another library");
        assert_eq!(refused, format!("'{call}' is not known; write {meant} if that is meant"));
    }
    assert_eq!(canonical("kernel32.Sleep", "1").as_deref(), Ok("Sleep"));
    let several = canonical("x.wait", "1").expect_err("it is none of them alone");
    assert!(several.starts_with("'x.wait' could be ") && several.contains("Object.wait, "), "{several}");
    assert!(several.ends_with("write the one that you mean"), "{several}");
}

#[test]
fn a_call_that_would_not_wait_says_what_it_does() {
    for (text, part) in [
        ("Thread.sleep(-1)", "throws IllegalArgumentException"),
        ("Thread.sleep(0)", "ask yield("),
        ("Thread.Sleep(-1)", "waits without end"),
        ("time.sleep(-1)", "raises ValueError"),
        ("time.Sleep(-5)", "returns at once"),
        ("parkNanos(0)", "returns at once"),
        ("Object.wait(0)", "waits without end"),
        ("Thread.sleep(Duration.ofMillis(-5))", "throws IllegalArgumentException"),
        ("TimeUnit.SECONDS.sleep(-1)", "returns at once"),
        ("TimeUnit.SECONDS.sleep(1.5)", "Java refuses 1.5 there"),
        ("time.Tick(0)", "a receive from that waits without end"),
        ("Sleep(-2)", "short of 2^32"),
        ("new Timer(1)", "no unit"),
        ("self.stopped.wait(timeout=0.01)", "threading.Event.wait, threading.Condition.wait; write the one"),
        ("usleep(-1)", "is negative; write a span like 1ms"),
        ("Thread.sleep(3d)", "takes a whole number of ms, and Java refuses 3d there"),
        ("Thread.sleep(1.5)", "write a span like 1.5ms"),
        ("time.sleep(1y)", "is not a unit of time here"),
        ("pygame.time.delay(5)", "keeps a CPU busy"),
        ("Thread.sleep(1, 1000000)", "0 to 999999 ns"),
    ] {
        let refused = text.parse::<Subject>().expect_err(text).to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn what_a_number_means_is_not_guessed() {
    for text in ["sleep(1)", "nanosleep(1)", "select(1)", "foo(1, 500000)", "time.sleep(seconds)"] {
        assert!(text.parse::<Subject>().is_err(), "{text}");
    }
}

#[test]
fn a_call_that_is_misspelt_is_no_number_without_a_unit() {
    let refused = |text: &str| text.parse::<Subject>().expect_err(text).to_string();
    for (text, meant) in [
        ("Task.Delya(1)", "Task.Delay"),
        ("time.slep(0.001)", "time.sleep"),
        ("usleeep(100)", "usleep"),
        ("setTimout(f, 0)", "setTimeout"),
        ("thread.sleep(1)", "Thread.sleep"),
    ] {
        assert!(refused(text).ends_with(&format!("did you mean '{meant}'?")), "{}", refused(text));
    }
    for text in ["sleep(1)", "select(1)", "nonsense(1)"] {
        assert!(refused(text).contains("no unit"), "{}", refused(text));
    }
}

#[test]
fn a_name_has_one_unit() {
    let names: Vec<&str> = names::UNITS.iter().flat_map(|(_, names)| *names).copied().collect();
    for name in &names {
        assert_eq!(names.iter().filter(|one| one == &name).count(), 1, "{name}");
        assert!(runtime_calls::call(name).is_none(), "{name} is in the table of runtimes' calls");
    }
}

#[test]
fn days_that_are_a_number_of_the_language_are_told_from_days() {
    for (text, part) in [
        ("parkNanos(49d)", "Java refuses 49d there, a floating-point number; for 49 days, write 1176h"),
        ("Task.Delay(50d)", "C# refuses 50d there, a floating-point number; for 50 days, write 1200h"),
    ] {
        let error = text.parse::<Subject>().expect_err(text).to_string();
        assert!(error.contains(part), "{error}");
    }
}
