// node screens.mjs BROWSER PICTURES AXE PAGE…: every page at four widths, light and dark, as pictures and held to what a
// page owes to its reader: nothing but what scrolls in a box of its own is wider than the screen, the text of a drawing is
// at least 11 px high and none of its labels covers another, and axe finds nothing. AXE is axe-core's script, or empty.

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from './chromium.mjs';
import { expectations, pause } from './driver.mjs';

const [program, pictures, axe, ...pages] = process.argv.slice(2);
const { must, failed } = expectations();
const WIDTHS = [390, 768, 1280, 1920];
const NARROWEST = 360;
const HEIGHT_MAX = 8000;
fs.mkdirSync(pictures, { recursive: true });

/** Runs in the page: what is wrong with its drawings. */
function faults() {
  const seen = (text) => text.checkVisibility({ opacityProperty: true }) && text.textContent.trim() !== '';
  const small = [];
  const overlapping = [];
  const cut = [];
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.closest('[id]')?.id ?? 'a drawing';
    const whole = svg.getBoundingClientRect();
    if (whole.width === 0) continue;
    const texts = [...svg.querySelectorAll('text')].filter(seen).map((text) => {
      const px = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d;
      const { left, right, top, bottom } = text.getBoundingClientRect();
      // The letters of a line are lower than its box.
      const air = (bottom - top) * 0.22;
      return { words: text.textContent, px, left, right, top: top + air, bottom: bottom - air };
    });
    for (const [index, one] of texts.entries()) {
      if (one.px < 10.95) small.push(`${name}: ${one.words} (${one.px.toFixed(1)} px)`);
      if (one.left < whole.left - 1 || one.right > whole.right + 1) cut.push(`${name}: ${one.words}`);
      for (const other of texts.slice(index + 1)) {
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (wide > 1 && high > 1) overlapping.push(`${name}: ${one.words} | ${other.words}`);
      }
    }
  }
  return { small, overlapping, cut };
}

const few = (list) => `${list.length}${list.length ? `: ${list.slice(0, 6).join('; ')}` : ''}`;
const browser = await chromium(program);
let bytes = 0;
try {
  const { tell, evaluated } = browser;
  await tell('Page.enable');
  const look = async (width, dark) => {
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }];
    await tell('Emulation.setEmulatedMedia', { features });
    await tell('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
    await pause(100);
  };
  const open = async (page) => {
    await tell('Page.navigate', { url: pathToFileURL(path.resolve(page)).href });
    for (let i = 0; i < 600 && !(await evaluated('document.readyState === "complete" && location.protocol === "file:"')); i += 1) await pause(50);
    // The page in the browser has an answer then.
    for (let i = 0; i < 400 && await evaluated('!!document.querySelector("#answer") && !document.documentElement.dataset.answered'); i += 1) await pause(50);
  };
  for (const page of pages) {
    const name = path.basename(page, '.html');
    await look(NARROWEST, false);
    await open(page);
    const wide = await evaluated('document.documentElement.scrollWidth');
    must(`${name}: nothing scrolls sideways at ${NARROWEST} px`, wide <= NARROWEST, wide <= NARROWEST ? '' : `${wide} px`);
    for (const dark of [false, true]) {
      for (const width of WIDTHS) {
        await look(width, dark);
        const at = `${name} at ${width} px, ${dark ? 'dark' : 'light'}`;
        if (!dark) {
          const { small, overlapping, cut } = await evaluated(`(${faults})()`);
          must(`${at}: no text of a drawing is below 11 px`, small.length === 0, few(small));
          must(`${at}: no label covers another`, overlapping.length === 0, few(overlapping));
          must(`${at}: no label leaves its drawing`, cut.length === 0, few(cut));
        }
        const height = Math.min(await evaluated('document.documentElement.scrollHeight'), HEIGHT_MAX);
        const { data } = await tell('Page.captureScreenshot',
          { format: 'jpeg', quality: 50, captureBeyondViewport: true, clip: { x: 0, y: 0, width, height, scale: 1 } });
        const file = Buffer.from(data, 'base64');
        bytes += file.length;
        fs.writeFileSync(path.join(pictures, `${name}-${width}-${dark ? 'dark' : 'light'}.jpg`), file);
        if (axe && (width === WIDTHS[0] || width === WIDTHS[2])) {
          await evaluated(`${fs.readFileSync(axe, 'utf8')}; undefined`);
          const found = await evaluated(`axe.run().then(({ violations }) => violations.map(({ id, nodes }) =>
            id + ' (' + nodes.length + '): ' + nodes[0].html.slice(0, 160)))`);
          must(`${at}: axe finds nothing`, found.length === 0, few(found));
        }
      }
    }
  }
} catch (error) {
  must(error.message, false);
} finally {
  await browser.close();
}
console.log(`screens: ${pages.length} pages, ${pages.length * WIDTHS.length * 2} pictures, ${(bytes / 1e6).toFixed(1)} MB; `
  + `${axe ? 'with' : 'without'} axe: ${failed() ? 'FAILED' : 'every check passed'}`);
process.exitCode = failed() ? 1 : 0;
