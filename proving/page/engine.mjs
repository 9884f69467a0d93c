// The engine of a built page, for node: its module, and the functions of engine.js.

import fs from 'node:fs';

const element = (page, opening) => {
  const from = page.indexOf(opening) + opening.length;
  return page.slice(from, page.indexOf('</script>', from));
};

const functions = (code) => new Function(`${code}; return { unpacked, answer };`)();

/** The engine of the page at that path. */
export async function engineOf(path) {
  const page = fs.readFileSync(path, 'utf8');
  const code = element(page, '<script id="engine-code">');
  const bytes = functions(code).unpacked(element(page, '<script type="text/plain" id="engine">'));
  return engineWith(code, await WebAssembly.compile(bytes));
}

/** The engine of a module that is compiled already, as a worker gets it. */
export function engineWith(code, module) {
  const { answer } = functions(code);
  const instance = () => {
    let exports;
    const pointer = () => exports.__stack_pointer;
    const stack = { get: () => pointer().value, set: (to) => { pointer().value = to; } };
    exports = new WebAssembly.Instance(module, { stack, page: { progress() {} } }).exports;
    return exports;
  };
  return {
    code,
    module,
    conformance: () => instance().conformance(),
    ask: (request, files) => answer(module, request, files),
    run: (words, files = []) =>
      answer(module, { run: { words, files: files.map((file) => file.name) } }, files.map((file) => file.bytes)),
  };
}
