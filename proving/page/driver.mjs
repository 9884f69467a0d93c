// What the tests in browsers share: their arguments, what they expect, and files that do harm.

import fs from 'node:fs';
import path from 'node:path';

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** PAGE BROWSER RESULT… [--pictures DIR] */
export function typed() {
  const args = process.argv.slice(2);
  const option = args.indexOf('--pictures');
  const pictures = option >= 0 ? args.splice(option, 2)[1] : undefined;
  const [page, program, ...results] = args.map((name, i) => (i === 1 ? name : path.resolve(name)));
  return { page, program, results, pictures };
}

/** Expectations of one browser. */
export function expectations(prefix = '') {
  let failed = 0;
  const must = (what, holds, seen = '') => {
    if (!holds) failed += 1;
    console.log(`${holds ? 'ok    ' : 'FAILED'} ${prefix}${what}${seen === '' ? '' : `: ${seen}`}`);
  };
  const took = (from) => `${(performance.now() - from).toFixed(0)} ms`;
  return { must, took, failed: () => failed > 0 };
}

/** Until what an expression says in the page holds. The limit only ends what hangs. */
export const untilOf = (evaluated) => async (expression, seconds = 600) => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(10)) {
    if (await evaluated(expression)) return;
  }
  throw new Error(`never: ${expression}`);
};

/** A picture of the window, where pictures are wanted; `taken` gives it as base64. */
export const pictureOf = (pictures, taken) => async (name) => {
  if (!pictures) return;
  fs.mkdirSync(pictures, { recursive: true });
  fs.writeFileSync(path.join(pictures, `${name}.png`), Buffer.from(await taken(), 'base64'));
};

/** A program that has been killed has ended when this is done. */
export async function ended(browser) {
  browser.kill('SIGKILL');
  await new Promise((resolve) => { browser.on('exit', resolve); if (browser.exitCode !== null || browser.signalCode) resolve(); });
  await pause(200);
}

/** What would break out of the place that it stands in. */
export const bad = '</script><script>top.broken=1</script><img src=x onerror="top.broken=1">';

/** A result with that in every field that is read as text. */
export function spoilt(name) {
  const result = JSON.parse(fs.readFileSync(name, 'utf8'));
  result.name = bad;
  for (const series of result.series ?? []) series.subject = bad;
  for (const fact of Object.values(result.environment?.facts ?? {})) if (typeof fact?.text === 'string') fact.text = bad;
  return JSON.stringify(result);
}

/** The first half of a file, roughly. */
export function damaged(name, copy) {
  fs.writeFileSync(copy, fs.readFileSync(name).subarray(0, 5000));
  return copy;
}
