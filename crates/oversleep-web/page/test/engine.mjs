// The engine of a built page, for node: its module, and the functions of engine.js.

import fs from 'node:fs';

const element = (page, opening) => {
  const from = page.indexOf(opening) + opening.length;
  return page.slice(from, page.indexOf('</script>', from));
};

export async function engineOf(path) {
  const page = fs.readFileSync(path, 'utf8');
  const code = element(page, '<script id="engine-code">');
  const { unpacked, answer } = new Function(`${code}; return { unpacked, answer };`)();
  const bytes = unpacked(element(page, '<script type="text/plain" id="engine">'));
  const module = await WebAssembly.compile(bytes);
  const instance = () => {
    let exports;
    const pointer = () => exports.__stack_pointer;
    const stack = { get: () => pointer().value, set: (to) => { pointer().value = to; } };
    exports = new WebAssembly.Instance(module, { stack, page: { progress() {} } }).exports;
    return exports;
  };
  return {
    conformance: () => instance().conformance(),
    ask: (request, files) => answer(module, request, files),
    run: (words, files = []) =>
      answer(module, { run: { words, files: files.map((file) => file.name) } }, files.map((file) => file.bytes)),
    bytes: bytes.length,
  };
}
