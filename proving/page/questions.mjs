// What the test of identity asks: every form of question and every option of `ask`.

/** A machine per system, which is checked thoroughly. */
export const thorough = ['windows-11', 'linux-hz250', 'macos-14-m1'];

export const formsOf = (machines) => {
  const all = machines.map(({ name }) => name);
  const everywhere = all.join(',');
  return [
    // Questions.
    ['sleep(1ms)', '--on', everywhere],
    ['nanosleep(1ms)', 'cost(monotonic)', 'step(monotonic-coarse)', 'shows(realtime-coarse)', '--on', 'linux-hz250,linux-hpet'],
    ['WaitForSingleObject(1ms)', 'step(GetTickCount64)', 'cost(QueryPerformanceCounter)', 'shows(system-time)', '--on', 'windows-7,windows-11'],
    ['parkNanos(55us)', 'Thread.sleep(1500us)', '--on', 'windows-10-1909,linux-hz250,macos-14-m1'],
    ['asyncio.sleep(1ms)', 'setTimeout(1ms)', 'WM_TIMER(20ms)', '--on', 'windows-11,linux-hz250'],
    ['forkjoin(blocked)', 'forkjoin(polling)', '--on', 'windows-11,linux-hz250'],
    ['yield(sched-yield)', '--on', 'linux-hz250', '--load', 'spin:4'],
    ['Sleep(0)', 'yield(switch-to-thread)', '--on', 'windows-11', '--load', 'spin:20'],
    ['resolution()', '--on', everywhere],
    // Options.
    ['resolution()', '--on', 'windows-7', '--set', 'tick=10ms'],
    ['sleep(1ms)', '--on', 'windows-10-1909,windows-10-2004', '--neighbour', '1ms'],
    ['sleep(1ms)', '--on', 'windows-10-1909', '--neighbour', '1ms,2ms', '--after-neighbour'],
    ['sleep(1ms)', '--on', 'windows-11', '--resolution', '500us', '--count', '5000', '--pace', 'periodic'],
    ['sleep(1ms)', '--on', 'windows-11', '--pace', 'random', '--clock', 'qpc'],
    ['nanosleep(1ms)', '--on', 'linux-hz250', '--policy', 'fifo:50', '--slack', '1ns', '--seed', '7'],
    ['nanosleep(1ms)', '--on', 'linux-hz250', '--pin', '0', '--lock-memory', '--dma-latency', '0'],
    ['sleep(1ms)', '--on', 'windows-11', '--tune', 'power-throttling=off'],
    ['nanosleep(1ms)', '--like', 'everything.json'],
    ['nanosleep(1ms)', '--on', 'linux-hz250', '--like', 'everything.json', '--seed', '3'],
    // What one machine or all of them refuse.
    ['sleep(1ms)', '--on', 'windows-11,linux-hz250', '--slack', '1ns'],
    ['sleep(1ms)', '--on', 'linux-hz250,windows-11', '--set', 'timers.tick=10ms'],
    ['sleep(1ms)', '--on', 'windows-11', '--slack', '1ns'],
    ['epoll-wait(1ms)', '--on', 'windows-11,linux-hz250'],
    ['slep(1ms)', '--on', 'windows-11'],
    ['sleep(1ms)', '--on', 'windows-12'],
  ];
};
