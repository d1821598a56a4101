/** Makes broken files of valid ones: sizes, counts, offsets, timescales and durations become what hostile or careless writers put there. */

import type { Random } from './random.ts';

/** Numbers at the limits of what fields hold, and some that only look harmless. */
const numbers = [
  ...[0, 1, 2, 7, 8, 9, 15, 16, 100, 255, 256, 4001, 48_000, 0xffff, 0x10000, 1_000_000, 0xffffff],
  ...[0x7fffffff, 0x7fffffff - 600_000, 0x80000000, 0xfffffff8, 0xfffffffe, 0xffffffff],
];

/** Boxes that hold boxes, and the bytes of their own before the first of them. */
const parents: Readonly<Record<string, number>> = {
  moov: 0,
  trak: 0,
  edts: 0,
  mdia: 0,
  minf: 0,
  dinf: 0,
  stbl: 0,
  mvex: 0,
  moof: 0,
  traf: 0,
  udta: 0,
  stsd: 8,
  dref: 8,
  avc1: 78,
  mp4a: 28,
  wave: 0,
};

interface BoxPlace {
  readonly type: string;
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
  /** Starts of the boxes around it, outermost first. */
  readonly around: readonly number[];
}

function boxesOf(bytes: Buffer, start = 0, end = bytes.length, around: readonly number[] = []): BoxPlace[] {
  const found: BoxPlace[] = [];
  for (let at = start; at + 8 <= end && found.length < 1000; ) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > end) break;
    const type = bytes.toString('latin1', at + 4, at + 8);
    found.push({ type, start: at, bodyStart: at + 8, end: at + size, around });
    const own = parents[type];
    if (own !== undefined) found.push(...boxesOf(bytes, at + 8 + own, at + size, [...around, at]));
    at += size;
  }
  return found;
}

/** A mutant of an MP4 or MOV file: one to four changes, most of them of numbers in boxes, some of the boxes themselves. */
export function mutateMp4(valid: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(valid);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const boxes = boxesOf(bytes).filter(({ type }) => type !== 'mdat');
    if (boxes.length === 0) return bytes;
    bytes = random.below(4) === 0 ? restructured(bytes, boxes, random) : renumbered(bytes, boxes, random);
  }
  return random.below(16) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

function renumbered(bytes: Buffer, boxes: readonly BoxPlace[], random: Random): Buffer {
  // The size itself, or a 32 bit field; of tables, whose entries follow each other, one of the first, the last or any.
  const box = random.pick(boxes);
  const fields = Math.floor((box.end - box.bodyStart) / 4);
  const field = random.pick([0, 1, 2, 3, 4, 5, random.below(fields + 1), fields - 1, fields - 3]);
  const at = random.below(8) === 0 ? box.start : box.bodyStart + 4 * Math.max(0, field);
  if (at + 4 > bytes.length) return bytes;
  const before = bytes.readUInt32BE(at);
  const value = random.pick([
    random.pick(numbers),
    before + 1,
    before - 1,
    before * 2,
    Math.floor(before / 2),
    before ^ (1 << random.below(32)),
  ]);
  // Several entries in a row make a jump instead of a single odd sample.
  const times = random.pick([1, 1, 1, 3, 50]);
  for (let time = 0, place = at; time < times && place + 4 <= bytes.length; time++, place += 8) {
    bytes.writeUInt32BE(value >>> 0, place);
  }
  return bytes;
}

function restructured(bytes: Buffer, boxes: readonly BoxPlace[], random: Random): Buffer {
  const box = random.pick(boxes);
  const own = bytes.subarray(box.start, box.end);
  const empty = Buffer.from('\0\0\0\x08free', 'latin1');
  const more = random.pick([
    // Twice, or very often.
    () => own,
    () => Buffer.alloc(own.length * Math.min(2000, Math.ceil(200_000 / own.length)), own),
    // Very many small boxes.
    () => Buffer.alloc(8 * random.pick([1, 4096, 20_000, 250_000]), empty),
    // Removed.
    () => undefined,
  ])();
  const changed =
    more === undefined
      ? Buffer.concat([bytes.subarray(0, box.start), bytes.subarray(box.end)])
      : Buffer.concat([bytes.subarray(0, box.end), more, bytes.subarray(box.end)]);
  const grown = more === undefined ? -own.length : more.length;
  for (const parent of box.around) {
    changed.writeUInt32BE((changed.readUInt32BE(parent) + grown) >>> 0, parent);
  }
  return changed;
}

/** A mutant of an FLV file: one to four changes of tag sizes, types, timestamps, metadata and order. */
export function mutateFlv(valid: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(valid);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const tags: number[] = [];
    for (let at = 13; at + 11 <= bytes.length; at += 15 + bytes.readUIntBE(at + 1, 3)) tags.push(at);
    if (tags.length === 0) return bytes;
    const at = random.pick(tags);
    const end = Math.min(bytes.length, at + 15 + bytes.readUIntBE(at + 1, 3));
    const tag = bytes.subarray(at, end);
    switch (random.below(6)) {
      case 0: // Changes the size.
        bytes.writeUIntBE(random.pick(numbers) & 0xffffff, at + 1, 3);
        break;
      case 1: // Changes the timestamp.
        bytes.writeUInt32BE(random.pick(numbers), at + 4);
        break;
      case 2: // Changes the type, or the first bytes of the body.
        bytes[random.pick([at, at + 11, at + 12, at + 13].filter(one => one < bytes.length))] =
          random.below(256);
        break;
      case 3: // A number inside.
        if (tag.length >= 19) tag.writeUInt32BE(random.pick(numbers), 11 + random.below(tag.length - 18));
        break;
      case 4: // Very often.
        bytes = Buffer.concat([
          bytes.subarray(0, end),
          Buffer.alloc(tag.length * Math.min(5000, Math.ceil(100_000 / Math.max(1, tag.length))), tag),
          bytes.subarray(end),
        ]);
        break;
      default: // Removed.
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    }
  }
  return random.below(16) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

/** A mutant of a WebVTT or SubRip file, of at most `maxBytes`: times, counts and lengths out of all bounds. */
export function mutateWebVtt(valid: string, random: Random, maxBytes: number): string {
  const odd = random.pick([
    ...['99999999999999999999', '-1', '1e9', '00', '\u0000', '-->', '&lt;'.repeat(500), '<c>'.repeat(20_000)],
    ...[
      ' '.repeat(50_000),
      '\n'.repeat(50_000),
      '\r'.repeat(50_000),
      '-'.repeat(50_000),
      '0:'.repeat(50_000),
    ],
    ...[
      '\ufeff',
      'NOTE ',
      'STYLE\n::cue {',
      'REGION\n',
      '\ud800',
      '1\n'.repeat(20_000),
      '--> '.repeat(20_000),
    ],
  ]);
  const often = (text: string) => text.repeat(Math.max(1, Math.floor(maxBytes / 4 / text.length)));
  let text = valid;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(text.length);
    const rest = text.slice(at);
    switch (random.below(6)) {
      case 0: // A number.
        text = text.slice(0, at) + rest.replace(/\d+/, odd);
        break;
      case 1: // An arrow.
        text = text.slice(0, at) + rest.replace('-->', odd);
        break;
      case 2: // Something odd anywhere.
        text = text.slice(0, at) + odd + rest;
        break;
      case 3: // A cue very often.
        text += often(`\n${valid.slice(valid.indexOf('\n\n'))}`);
        break;
      case 4: // A line without an end.
        text += often(odd);
        break;
      default: // Cut off.
        text = text.slice(0, at + 1);
    }
    text = text.slice(0, maxBytes);
  }
  return text;
}
