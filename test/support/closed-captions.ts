import type { FlvTag } from '../../src/media/flv/flv-tag.ts';

/** CEA-608 pairs with odd parity: a row that rolls up, and the text. */
export function captionPairs(text: string): [number, number][] {
  const rollUp = [0x14, 0x25] as const;
  const carriageReturn = [0x14, 0x2d] as const;
  const bytes = [...Buffer.from(text.length % 2 === 0 ? text : `${text} `)];
  const pairs: (readonly [number, number])[] = [rollUp, rollUp, carriageReturn, carriageReturn];
  for (let index = 0; index < bytes.length; index += 2) pairs.push([bytes[index]!, bytes[index + 1]!]);
  return pairs.map(([first, second]) => [withParity(first), withParity(second)]);
}

function withParity(byte: number): number {
  const ones = byte.toString(2).replaceAll('0', '').length;
  return ones % 2 === 0 ? byte | 0x80 : byte;
}

/** An H.264 SEI unit with one pair per triplet. @param field 0 or 1 */
export function captionUnit(pairs: readonly (readonly [number, number])[], field = 0): Buffer {
  return tripletUnit(pairs.map(([first, second]) => [field, first, second]));
}

/** An H.264 SEI unit with a packet of CEA-708. Its bytes without the header are of service blocks. */
export function serviceUnit(blocks: readonly number[]): Buffer {
  const bytes = [Math.ceil((blocks.length + 1) / 2), ...blocks, ...(blocks.length % 2 === 0 ? [0] : [])];
  const triplets: [number, number, number][] = [];
  for (let at = 0; at < bytes.length; at += 2) triplets.push([at === 0 ? 3 : 2, bytes[at]!, bytes[at + 1]!]);
  return tripletUnit(triplets);
}

function tripletUnit(triplets: readonly (readonly [type: number, first: number, second: number])[]): Buffer {
  const valid = triplets.flatMap(([type, first, second]) => [0xfc | type, first, second]);
  const data = [0x40 | triplets.length, 0xff, ...valid, 0xff];
  const message = [0xb5, 0x00, 0x31, ...Buffer.from('GA94'), 0x03, ...data];
  return Buffer.from([6, 4, message.length, ...message, 0x80]);
}

/** Puts a caption every second into H.264 tags, and padding into all other frames. */
export function withCaptions(tags: readonly FlvTag[], text: (second: number) => string): FlvTag[] {
  const padding: readonly [number, number] = [0x80, 0x80];
  let pending: [number, number][] = [];
  let second = -1;
  return tags.map(tag => {
    if (tag.kind !== 'video' || tag.body[1] !== 1) return tag;
    if (Math.floor(tag.timestampMs / 1000) > second) {
      second = Math.floor(tag.timestampMs / 1000);
      pending = captionPairs(text(second));
    }
    const unit = captionUnit([pending.shift() ?? padding]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(unit.length);
    return { ...tag, body: Buffer.concat([tag.body.subarray(0, 5), length, unit, tag.body.subarray(5)]) };
  });
}
