// The engine's code is packed in streams, one for each kind of operand, which makes it 9 % shorter; `cargo xtask page`
// takes it apart.

/** The module that the streams stand for: the lengths of all but the last, 4 bytes each, then the streams. */
function together(packed) {
  const [allElse, calls, locals, offsets, constants] = [0, 1, 2, 3, 4];
  const view = new DataView(packed.buffer, packed.byteOffset);
  const from = [16];
  for (let stream = 0; stream < 4; stream += 1) from.push(from[stream] + view.getUint32(4 * stream, true));
  const module = new Uint8Array(packed.length - 16);
  let to = 0;

  function byte() {
    module[to] = packed[from[allElse]];
    from[allElse] += 1;
    to += 1;
    return module[to - 1];
  }

  function bytes(count) {
    for (let i = 0; i < count; i += 1) byte();
  }

  /** A number in LEB128. */
  function number(stream) {
    let [value, bits, part] = [0, 0, 0x80];
    for (; part >= 0x80; bits += 7) {
      part = packed[from[stream]];
      from[stream] += 1;
      module[to] = part;
      to += 1;
      value |= (part & 0x7f) << bits;
    }
    return value;
  }

  function numbers(count) {
    for (let i = 0; i < count; i += 1) number(allElse);
  }

  function instruction() {
    const opcode = byte();
    if (opcode >= 0x45 && opcode <= 0xc4) return;
    if (opcode >= 0x20 && opcode <= 0x22) number(locals);
    else if (opcode === 0x41) number(constants);
    else if (opcode >= 0x28 && opcode <= 0x3e) {
      number(allElse);
      number(offsets);
    } else if (opcode === 0x10) number(calls);
    else if ([2, 3, 4, 0xc, 0xd, 0x23, 0x24, 0x25, 0x26, 0x3f, 0x40, 0x42].includes(opcode)) number(allElse);
    else if (opcode === 0xe) numbers(number(allElse) + 1);
    else if (opcode === 0x11) numbers(2);
    else if (opcode === 0x1c) bytes(number(allElse));
    else if (opcode === 0x43) bytes(4);
    else if (opcode === 0x44) bytes(8);
    else if (opcode === 0xfc) {
      const kind = number(allElse);
      if (kind >= 8) numbers([8, 10, 12, 14].includes(kind) ? 2 : 1);
    }
  }

  bytes(8);
  while (to < module.length) {
    const section = byte();
    const length = number(allElse);
    if (section !== 10) {
      bytes(length);
      continue;
    }
    for (let functions = number(allElse); functions > 0; functions -= 1) {
      const size = number(allElse);
      const end = to + size;
      for (let kinds = number(allElse); kinds > 0; kinds -= 1) {
        number(allElse);
        byte();
      }
      while (to < end) instruction();
    }
  }
  return module;
}
