import { describe, expect, it } from 'vitest';
import {
  RtmpTap,
  readAmfCommandName,
  readAmfStringProperty,
  replaceAmfString,
  replaceBytes,
} from '../../../../src/live/restream/rtmp-tap.ts';
import { encodeAmf0 } from '../../../support/amf0.ts';

interface Message {
  readonly type: number;
  readonly payload: Buffer;
  readonly id?: number;
  readonly timestamp?: number;
}

/** A message in chunks as ffmpeg writes them. */
function chunksOf({ type, payload, id = 3, timestamp = 0 }: Message, chunkBytes = 128): Buffer {
  const isExtended = timestamp >= 0xffffff;
  const extended = Buffer.alloc(isExtended ? 4 : 0);
  if (isExtended) extended.writeUInt32BE(timestamp);
  const head = Buffer.alloc(12);
  head[0] = id;
  head.writeUIntBE(isExtended ? 0xffffff : timestamp, 1, 3);
  head.writeUIntBE(payload.length, 4, 3);
  head[7] = type;
  const pieces: Buffer[] = [head, extended];
  for (let at = 0; at < payload.length; at += chunkBytes) {
    if (at > 0) pieces.push(Buffer.from([0xc0 | id]), extended);
    pieces.push(payload.subarray(at, at + chunkBytes));
  }
  return Buffer.concat(pieces);
}

/** What goes on when bytes come in pieces of so many. */
function through(tap: RtmpTap, bytes: Buffer, pieceBytes: number): Buffer {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    out.push(...tap.push(Buffer.from(bytes.subarray(at, at + pieceBytes))));
  }
  return Buffer.concat(out);
}

const key = `key-${'k'.repeat(300)}`;
const standIn = '0'.repeat(key.length);
const publish = (name: string) => encodeAmf0('publish', 5, null, name, 'live');
const chunkSize = (bytes: number) => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return chunksOf({ type: 1, payload, id: 2 });
};
const video = (timestamp = 0) => ({ type: 9, payload: Buffer.alloc(1000, 0xc6), id: 6, timestamp });

/** What ffmpeg sends when its key is `name`. */
const stream = (name: string) =>
  Buffer.concat([
    chunksOf({ type: 20, payload: publish(name) }),
    chunkSize(4096),
    chunksOf(video(), 4096),
    chunksOf({ ...video(0x1234567), payload: Buffer.alloc(9000, 1) }, 4096),
    chunksOf({ type: 20, payload: encodeAmf0('FCUnpublish', 6, null, name) }, 4096),
  ]);

describe('what goes through', () => {
  it.each([1, 7, 128, 1_000_000])('has another key of the same length, in pieces of %i bytes', pieceBytes => {
    const tap = new RtmpTap({ command: payload => replaceAmfString(payload, standIn, key) });
    expect(through(tap, stream(standIn), pieceBytes)).toEqual(stream(key));
  });

  it('tells each command, and that media began, once', () => {
    const told: string[] = [];
    const tap = new RtmpTap({
      command: payload => told.push(payload.toString('latin1', 3, 3 + payload.readUInt16BE(1))),
      mediaBegan: () => told.push('media'),
    });
    through(tap, stream(standIn), 500);
    expect(told).toEqual(['publish', 'media', 'FCUnpublish']);
  });

  it('is left as it is where it cannot be understood', () => {
    const tap = new RtmpTap({ command: payload => payload.fill(0) });
    const bytes = Buffer.concat([Buffer.from([0xc5]), Buffer.alloc(5000, 0x2a)]);
    expect(through(tap, bytes, 100)).toEqual(bytes);
  });

  it('is not held back for a command that is too long to be read', () => {
    const tap = new RtmpTap({ command: () => {} });
    const bytes = Buffer.concat([chunksOf({ type: 20, payload: Buffer.alloc(20_000) }).subarray(0, 500)]);
    expect(through(tap, bytes, 100)).toEqual(bytes);
  });
});

describe('what is never whole', () => {
  const begun = chunksOf({ type: 20, payload: Buffer.alloc(200) }).subarray(0, 12 + 128);

  it('is not held back beyond a bound', () => {
    const tap = new RtmpTap({ command: () => {} });
    const flood = chunksOf({ type: 8, payload: Buffer.alloc(128, 1), id: 5 });
    let heldBytes = 0;
    let mostHeldBytes = 0;
    for (let sent = begun, times = 0; times < 10_000; sent = flood, times += 1) {
      heldBytes += sent.length;
      for (const piece of tap.push(Buffer.from(sent))) heldBytes -= piece.length;
      mostHeldBytes = Math.max(mostHeldBytes, heldBytes);
    }
    expect(tap.isMalformed).toBe(true);
    expect(mostHeldBytes).toBeLessThan(300_000);
  });

  it('is not waited for when it becomes something else half-way', () => {
    const tap = new RtmpTap({ command: () => {} });
    const other = chunksOf({ type: 8, payload: Buffer.alloc(128, 1) });
    expect(tap.push(Buffer.from(begun))).toEqual([]);
    expect(Buffer.concat(tap.push(Buffer.from(other)))).toEqual(Buffer.concat([begun, other]));
    expect(tap.isMalformed).toBe(true);
  });
});

describe('an AMF payload', () => {
  it('begins with the name of its command', () => {
    expect(readAmfCommandName(publish('key'))).toBe('publish');
    expect([readAmfCommandName(Buffer.alloc(0)), readAmfCommandName(Buffer.from([5, 0, 0]))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('has properties that are texts', () => {
    const payload = encodeAmf0('onStatus', 0, null, { level: 'error', code: 'NetStream.Publish.BadName' });
    expect(readAmfStringProperty(payload, 'level')).toBe('error');
    expect(readAmfStringProperty(payload, 'code')).toBe('NetStream.Publish.BadName');
    expect(readAmfStringProperty(payload, 'description')).toBeUndefined();
  });

  it('has whole texts replaced, and no part of one', () => {
    const payload = encodeAmf0('connect', 1, { app: '0', tcUrl: '000' });
    replaceAmfString(payload, '0', 'a');
    expect(payload).toEqual(encodeAmf0('connect', 1, { app: 'a', tcUrl: '000' }));
  });

  it('has bytes replaced wherever they stand', () => {
    const payload = encodeAmf0('onStatus', 0, null, { description: 'secret is not a key. secret!' });
    replaceBytes(payload, 'secret', '000000');
    expect(readAmfStringProperty(payload, 'description')).toBe('000000 is not a key. 000000!');
  });
});
