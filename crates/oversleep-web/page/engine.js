// The engine: a compiled module answers one request per instance. The page's worker and the tests in node use the same
// functions. A request is pieces of bytes, the first of them JSON; so is an answer (see src/boundary.rs).

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes that letters of seven bits stand for, unpacked. */
function unpacked(letters) {
  const packed = new Uint8Array(Math.floor((letters.length * 7) / 8));
  let bits = 0;
  let count = 0;
  for (let i = 0, at = 0; i < letters.length; i += 1) {
    bits = (bits << 7) | (letters.charCodeAt(i) & 0x7f);
    count += 7;
    if (count >= 8) {
      count -= 8;
      packed[at] = bits >> count;
      at += 1;
      bits &= (1 << count) - 1;
    }
  }
  return unlzma(packed);
}

function joined(pieces) {
  const head = 4 * (pieces.length + 1);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, head));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, pieces.length, true);
  let at = head;
  pieces.forEach((piece, i) => {
    view.setUint32(4 * (i + 1), piece.length, true);
    bytes.set(piece, at);
    at += piece.length;
  });
  return bytes;
}

function taken(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  let at = 4 * (count + 1);
  return Array.from({ length: count }, (_, i) => {
    const length = view.getUint32(4 * (i + 1), true);
    at += length;
    return bytes.slice(at - length, at);
  });
}

/**
 * What the module answers: `{error}`, or its JSON with the bytes of each part. `files` are bytes, in the order of the
 * request's names; `progress` hears what is done and how much there is, in ns.
 */
function answered(module, request, files = [], progress = () => {}) {
  let exports;
  const pointer = () => exports.__stack_pointer;
  const imports = {
    stack: { get: () => pointer().value, set: (to) => { pointer().value = to; } },
    page: { progress },
  };
  exports = new WebAssembly.Instance(module, imports).exports;
  const bytes = joined([encoder.encode(JSON.stringify(request)), ...files]);
  const at = exports.reserve(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  const from = exports.answer(at, bytes.length);
  const [head, ...parts] = taken(new Uint8Array(exports.memory.buffer, from, exports.answer_bytes()));
  const said = JSON.parse(decoder.decode(head));
  (said.parts ?? []).forEach((part, i) => { part.bytes = parts[i]; });
  return said;
}

/** The same where a trap of the module is an answer, too. */
function answer(module, request, files, progress) {
  try {
    return answered(module, request, files, progress);
  } catch (trap) {
    return { error: `this can't be answered here: ${trap.message}; the page goes on, and \`oversleep\` on a machine says more` };
  }
}
