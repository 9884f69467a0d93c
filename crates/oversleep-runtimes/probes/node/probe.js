// Waits and clocks as a Node program calls them. The protocol is in ../PROTOCOL.md.
const fs = require('node:fs')
const timersPromises = require('node:timers/promises')
const { performance } = require('node:perf_hooks')
const { Worker } = require('node:worker_threads')

const now = process.hrtime.bigint
const MILLI = 1_000_000
const emit = (record) => fs.writeSync(1, JSON.stringify(record) + '\n')
// A program that has nanoseconds passes a fraction of a millisecond, and the runtime makes of it what it does.
const inMillis = (ns) => ns / MILLI

const cell = new Int32Array(new SharedArrayBuffer(4))
const afterTimeout = (ns) => new Promise((resolve) => setTimeout(resolve, inMillis(ns)))

let isSpinning = false
const spin = () => { if (isSpinning) setImmediate(spin) }

const WAITS = {
  'setTimeout': afterTimeout,
  // The event loop never sleeps: setImmediate keeps it spinning beside the timer.
  'setTimeout(busy)': (ns) => {
    if (!isSpinning) { isSpinning = true; spin() }
    return afterTimeout(ns)
  },
  'setInterval': (ns) => new Promise((resolve) => {
    const timer = setInterval(() => { clearInterval(timer); resolve() }, inMillis(ns))
  }),
  'timers-promises.setTimeout': (ns) => timersPromises.setTimeout(inMillis(ns)),
  'Atomics.wait': (ns) => { Atomics.wait(cell, 0, 0, inMillis(ns)) },
}

async function waits (op, requested, count) {
  const wait = WAITS[op]
  const t = new BigInt64Array(count)
  const d = new BigInt64Array(count)
  const cpu = process.cpuUsage()
  for (let i = 0; i < count; i++) {
    const start = now()
    await wait(requested)
    const end = now()
    t[i] = start
    d[i] = end - start
  }
  isSpinning = false
  const used = process.cpuUsage(cpu)
  // JSON.stringify knows no BigInt; process.hrtime stays below 2^53 for 104 days of uptime.
  return { t: Array.from(t, Number), d: Array.from(d, Number), cpu: (used.user + used.system) * 1000 }
}

// The same setTimeout in another thread, which has an event loop of its own.
function inWorker (requested, count) {
  const source = `
    const { parentPort } = require('node:worker_threads')
    const now = process.hrtime.bigint
    const t = [], d = []
    const again = () => {
      const start = now()
      setTimeout(() => {
        t.push(Number(start)); d.push(Number(now() - start))
        if (t.length < ${count}) again(); else parentPort.postMessage({ t, d })
      }, ${inMillis(requested)})
    }
    again()`
  return new Promise((resolve, reject) => {
    const cpu = process.cpuUsage()
    const worker = new Worker(source, { eval: true })
    worker.once('error', reject)
    worker.once('message', ({ t, d }) => {
      const used = process.cpuUsage(cpu)
      worker.terminate().then(() => resolve({ t, d, cpu: (used.user + used.system) * 1000 }))
    })
  })
}

const CLOCKS = {
  'process.hrtime.bigint': [() => process.hrtime.bigint(), (a, b) => Number(b - a)],
  'performance.now': [() => performance.now(), (a, b) => Math.round((b - a) * MILLI)],
  'Date.now': [() => Date.now(), (a, b) => (b - a) * MILLI],
}

function clock (op, count) {
  const [read, difference] = CLOCKS[op]
  const reads = 1000
  const batch = () => {
    const start = now()
    for (let k = 0; k < reads; k++) read()
    return Number(now() - start)
  }
  for (let i = 0; i < 30; i++) batch() // until it is compiled
  const d = Array.from({ length: count }, batch)
  const step = []
  const until = now() + 40_000_000n
  for (let last = read(); step.length < 16 && now() < until;) {
    const next = read()
    if (next > last) step.push(difference(last, next))
    last = next
  }
  emit({ type: 'c', op, n: count, reads, d, step })
}

async function run (token) {
  const [, op, requested, count] = token.match(/^(.+)@(\d+)@(\d+)$/)
  if (op in CLOCKS) return clock(op, Number(count))
  if (!(op in WAITS) && op !== 'worker.setTimeout') return emit({ type: 'skip', op, why: 'Node has no such call' })
  const collections = []
  const observer = new (require('node:perf_hooks').PerformanceObserver)((list) => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const ask = [Number(requested), Number(count)]
  const { t, d, cpu } = op in WAITS ? await waits(op, ...ask) : await inWorker(...ask)
  collections.push(...observer.takeRecords())
  observer.disconnect()
  emit({ type: 's', op, requested: ask[0], rounded: ask[0], n: d.length, unit: 'ns', t, d, cpu, gc: collections.length })
}

async function main () {
  for (let i = 0; i < 20; i++) await afterTimeout(MILLI)
  emit({ type: 'hello', proto: 1, runtime: 'node', version: process.versions.node, clock: 'process.hrtime.bigint',
    pid: process.pid, now: Number(now()) })
  for (const token of process.argv.slice(1)) {
    if (token === 'list') {
      for (const op of [...Object.keys(WAITS), 'worker.setTimeout']) emit({ type: 'op', op, kind: 'wait' })
      for (const op of Object.keys(CLOCKS)) emit({ type: 'op', op, kind: 'clock' })
    } else {
      await run(token)
    }
  }
  emit({ type: 'end', now: Number(now()) })
}

main()
