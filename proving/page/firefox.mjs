// node firefox.mjs PAGE BROWSER RESULT… [--pictures DIR]: the page from file:// in a real Firefox, driven through its
// Marionette port. A proxy of this test's own hears whatever the page would ask for.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { damaged, ended, expectations, pause, pictureOf, spoilt, typed, untilOf } from './driver.mjs';

const { page, program, results, pictures } = typed();
const { must, took, failed } = expectations('Firefox: ');

const listening = (server) => new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server.address().port)); });

const asked = [];
const proxy = net.createServer((socket) => {
  socket.on('data', (data) => { asked.push(data.toString().split('\r\n')[0]); socket.destroy(); });
  socket.on('error', () => {});
});
const free = net.createServer();
const port = await listening(free);
await new Promise((resolve) => { free.close(resolve); });
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'page-firefox-'));
const preferences = {
  'marionette.port': port,
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': await listening(proxy),
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': proxy.address().port,
  // What Firefox asks for on its own account.
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.search.update': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  // Its decoders of videos come from Google's update server.
  'media.gmp-manager.updateEnabled': false,
  'media.gmp-provider.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.dns.disablePrefetch': true,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.server': 'data:,',
};
fs.writeFileSync(path.join(profile, 'user.js'),
  Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
const browser = spawn(program, ['--headless', '--no-remote', '--marionette', '--profile', profile], { stdio: 'ignore' });

/** The port, once the browser listens there. A message is its length, a colon, and JSON: [0, id, command, parameters]. */
async function connected() {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(100)) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => { socket.on('connect', () => resolve(true)); socket.on('error', () => resolve(false)); });
    if (isOpen) return socket;
  }
  throw new Error('it never listened on its Marionette port');
}

try {
  const socket = await connected();
  let rest = Buffer.alloc(0);
  let next = 0;
  const waiting = new Map();
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let colon = rest.indexOf(':'); colon > 0; colon = rest.indexOf(':')) {
      const end = colon + 1 + Number(rest.subarray(0, colon));
      if (rest.length < end) return;
      const message = JSON.parse(rest.subarray(colon + 1, end));
      rest = rest.subarray(end);
      if (Array.isArray(message)) waiting.get(message[1])?.(message);
    }
  });
  const tell = (command, parameters = {}) => {
    next += 1;
    const text = JSON.stringify([0, next, command, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const id = next;
    return new Promise((resolve, reject) => {
      waiting.set(id, ([, , error, result]) => (error ? reject(new Error(`${command}: ${error.message}`)) : resolve(result)));
    });
  };
  await tell('WebDriver:NewSession', { capabilities: { alwaysMatch: { pageLoadStrategy: 'none' } } });
  const evaluated = async (expression) => {
    const script = `return (${expression})`;
    return (await tell('WebDriver:ExecuteScript', { script, args: [], sandbox: null, newSandbox: false })).value;
  };
  const until = untilOf(evaluated);
  const picture = pictureOf(pictures, async () => (await tell('WebDriver:TakeScreenshot', { full: false })).value);

  await tell('WebDriver:SetWindowRect', { width: 1100, height: 1400 });
  const began = performance.now();
  await tell('WebDriver:Navigate', { url: pathToFileURL(page).href });
  await until('document.documentElement?.dataset.answered && !!document.querySelector("#answer svg")');
  must('the first answer after opening', true, took(began));
  await until('document.querySelectorAll("#figures tr").length > 10');
  await picture('firefox-ask');

  const typing = performance.now();
  await evaluated(`(() => { const field = document.getElementById('question').elements.question; field.value = 'sleep(2ms)';
    field.dispatchEvent(new Event('input', { bubbles: true })); })()`);
  await until('document.getElementById("answer").textContent.includes("2 ms") && document.getElementById("command").textContent.includes("sleep(2ms)")');
  must('the next answer, with the pause that typing gets', true, took(typing));

  const { value } = await tell('WebDriver:FindElement', { using: 'css selector', value: '#files' });
  const choose = (file) => tell('WebDriver:ElementSendKeys', { id: Object.values(value)[0], text: file });
  const reported = performance.now();
  await choose(results[0]);
  await until('!!document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  must('a chosen result is reported', await evaluated('!!document.querySelector("#results-shown iframe")'), took(reported));
  await pause(500);
  await evaluated('chooseTab("results")');
  await picture('firefox-report');
  await choose(results[1]);
  await until('document.querySelector("#results-shown iframe")?.title === "Comparison"');
  must('two results are compared', true);

  const hostile = path.join(profile, 'hostile.json');
  fs.writeFileSync(hostile, spoilt(results[0]));
  for (const file of [hostile, damaged(results[0], path.join(profile, 'damaged.json'))]) {
    await evaluated('document.getElementById("forget").click()');
    await choose(file);
    await until('!!document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  }
  const said = await evaluated('document.getElementById("results-error").textContent');
  must('a damaged file gets the command\'s sentence', said.startsWith("can't use 'damaged.json': "), said.trim());
  must('no script of a hostile file has run', !(await evaluated('!!window.broken')));

  const checking = performance.now();
  await evaluated('document.getElementById("checking").requestSubmit()');
  await until('document.documentElement.dataset.checked && !!document.querySelector("#checked iframe")');
  must('a check of a modelled machine', true, took(checking));

  await evaluated(`(() => { const form = document.getElementById('checking'); form.elements.depth.value = '--thorough'; form.requestSubmit(); })()`);
  await until('document.getElementById("progress").value > 0 && document.getElementById("progress").value < 1');
  await evaluated('document.getElementById("cancel").click()');
  await until('document.getElementById("check-error").textContent === "cancelled"');
  must('a thorough check can be cancelled', true);

  const own = asked.filter((line) => !/(mozilla|firefox)\.(com|org|net)/.test(line));
  must('it asks for nothing', own.length === 0, own.join(' '));
} catch (error) {
  must(error.message, false);
} finally {
  await ended(browser);
  proxy.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
process.exit(failed() ? 1 : 0);
