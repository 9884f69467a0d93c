# Waits and clocks as a Ruby program calls them. The protocol is in ../PROTOCOL.md.
require 'timeout'

CLOCK = Process::CLOCK_MONOTONIC

def now
  Process.clock_gettime(CLOCK, :nanosecond)
end

def cpu
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
end

# The calls take seconds. A Float of a span this short is exact to less than a nanosecond.
def seconds(ns)
  ns / 1e9
end

def waiting_for_a_lock
  lock = Mutex.new
  condition = ConditionVariable.new
  lock.synchronize { yield ->(ns) { condition.wait(lock, seconds(ns)) } }
end

def waiting_for_a_thread
  thread = Thread.new { Thread.stop }
  yield ->(ns) { thread.join(seconds(ns)) }
ensure
  thread.kill.join
end

def waiting_for_a_pipe
  reader, writer = IO.pipe
  yield ->(ns) { IO.select([reader], nil, nil, seconds(ns)) }
ensure
  writer.close
  reader.close
end

def waiting_for_a_queue
  queue = Thread::Queue.new
  yield ->(ns) { queue.pop(timeout: seconds(ns)) }
end

def ending_at_a_timeout
  yield(lambda do |ns|
    Timeout.timeout(seconds(ns)) { sleep }
  rescue Timeout::Error
    nil
  end)
end

# Each calls its block with a wait.
ALL_WAITS = {
  'sleep' => ->(&use) { use.call(->(ns) { sleep(seconds(ns)) }) },
  'ConditionVariable#wait' => method(:waiting_for_a_lock),
  'Queue#pop' => method(:waiting_for_a_queue),
  'Thread#join' => method(:waiting_for_a_thread),
  'IO.select' => method(:waiting_for_a_pipe),
  'Timeout.timeout' => method(:ending_at_a_timeout)
}.freeze
# Before Ruby 3.2, a queue takes no timeout.
HAS_QUEUE = (RUBY_VERSION.split('.').map(&:to_i) <=> [3, 2]) >= 0
WAITS = ALL_WAITS.select { |name, _| HAS_QUEUE || name != 'Queue#pop' }.freeze

# Each returns nanoseconds.
CLOCKS = {
  'Process.clock_gettime' => -> { now },
  'Time.now' => lambda do
    time = Time.now
    time.to_i * 1_000_000_000 + time.nsec
  end
}.freeze
# The same reads without the conversion.
READS = {
  'Process.clock_gettime' => -> { Process.clock_gettime(CLOCK) },
  'Time.now' => -> { Time.now }
}.freeze

def text_of(value)
  case value
  when Array then "[#{value.join(',')}]"
  when Integer then value.to_s
  else "\"#{value.to_s.gsub(/[^ -~]|["\\]/, '?')}\""
  end
end

def emit(**fields)
  puts "{#{fields.map { |name, value| "\"#{name}\":#{text_of(value)}" }.join(',')}}"
end

def measure_wait(name, requested, count)
  starts = Array.new(count, 0)
  durations = Array.new(count, 0)
  WAITS[name].call do |wait|
    collections = GC.count
    spent = cpu
    count.times do |index|
      start = now
      wait.call(requested)
      durations[index] = now - start
      starts[index] = start
    end
    spent = cpu - spent
    emit(type: 's', op: name, requested: requested, rounded: requested, n: count, unit: 'ns', t: starts,
         d: durations, cpu: spent, gc: GC.count - collections)
  end
end

def measure_clock(name, count)
  read = READS[name]
  reads = 1000
  durations = Array.new(count) do
    start = now
    reads.times { read.call }
    now - start
  end
  step = steps_of(CLOCKS[name])
  emit(type: 'c', op: name, n: count, reads: reads, d: durations, step: step)
end

def steps_of(clock)
  steps = []
  last = clock.call
  deadline = now + 40_000_000
  while steps.length < 16 && now < deadline
    value = clock.call
    steps << (value - last) if value > last
    last = value
  end
  steps
end

def measure(token)
  name, requested, count = token.match(/\A(.+)@([0-9]+)@([0-9]+)\z/)&.captures
  if WAITS.key?(name)
    measure_wait(name, requested.to_i, count.to_i)
  elsif CLOCKS.key?(name)
    measure_clock(name, count.to_i)
  else
    emit(type: 'skip', op: name || token, why: 'Ruby has no such call here')
  end
rescue ArgumentError => e
  emit(type: 'skip', op: name, why: e.message)
end

$stdout.sync = true
20.times { sleep(0.0001) }
emit(type: 'hello', proto: 1, runtime: 'ruby', version: RUBY_VERSION, clock: 'CLOCK_MONOTONIC', pid: Process.pid,
     now: now)
ARGV.each do |token|
  next measure(token) unless token == 'list'

  WAITS.each_key { |name| emit(type: 'op', op: name, kind: 'wait') }
  CLOCKS.each_key { |name| emit(type: 'op', op: name, kind: 'clock') }
end
emit(type: 'end', now: now)
