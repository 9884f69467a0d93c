// A headless Chromium, told what to do through its debugging pipe. It asks the network for nothing.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ended } from './driver.mjs';

/** A browser with one page: `tell` sends a command to it, `events` are what it said unasked. */
export async function chromium(program) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'page-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
    '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage', '--hide-scrollbars',
    '--host-resolver-rules=MAP * ~NOTFOUND', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'];
  const browser = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  let next = 0;
  const waiting = new Map();
  const events = [];
  let rest = '';
  browser.stdio[4].on('data', (data) => {
    const messages = (rest + data).split('\0');
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      if (message.id) {
        waiting.get(message.id)(message);
        waiting.delete(message.id);
      } else events.push(message);
    }
  });
  const send = (method, params = {}, sessionId = undefined) => {
    next += 1;
    const id = next;
    browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)));
    });
  };
  const { targetInfos } = await send('Target.getTargets');
  const { targetId } = targetInfos.find((target) => target.type === 'page');
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  const evaluated = async (expression) => {
    const { result, exceptionDetails } = await tell('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const close = async () => {
    await ended(browser);
    fs.rmSync(profile, { recursive: true, force: true });
  };
  return { send, tell, evaluated, events, profile, close };
}
