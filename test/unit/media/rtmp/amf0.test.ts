import { describe, expect, it } from 'vitest';
import { decodeAmf0, encodeAmf0 } from '../../../../src/media/rtmp/amf0.ts';
import * as reference from '../../../support/amf0.ts';
import { Random } from '../../../support/random.ts';

describe('writing AMF 0', () => {
  it('writes every kind of value that commands and metadata need', () => {
    const metadata = new Map<string, number | boolean | string>([
      ['width', 1280],
      ['stereo', true],
      ['encoder', 'ü'],
    ]);
    const values = [
      'connect',
      1,
      { app: 'live?t=ü', fourCcList: ['hvc1'], nothing: null },
      metadata,
    ] as const;
    expect(encodeAmf0(...values)).toEqual(reference.encodeAmf0(...values));
  });
});

describe('reading AMF 0', () => {
  it('reads objects and arrays of servers', () => {
    const info = { level: 'status', code: 'NetConnection.Connect.Success', clientId: 12.5, list: ['a', 'b'] };
    const bytes = reference.encodeAmf0('_result', 1, null, info, new Map([['version', 3]]), undefined, true);
    expect(decodeAmf0(bytes)).toEqual([
      ...['_result', 1, null, new Map<string, unknown>(Object.entries(info)), new Map([['version', 3]])],
      ...[undefined, true],
    ]);
  });

  it('keeps names that an object would inherit as properties', () => {
    const [value] = decodeAmf0(reference.encodeAmf0({ ['__proto__']: 'x', level: 'error' })) as [
      Map<string, unknown>,
    ];
    expect([...value.keys()]).toEqual(['__proto__', 'level']);
  });

  it('ends where the bytes are malformed', () => {
    const bytes = reference.encodeAmf0('onStatus', 0, null);
    expect(decodeAmf0(Buffer.concat([bytes, Buffer.from([0x11, 1, 2])]))).toEqual(['onStatus', 0, null]);
    expect(decodeAmf0(bytes.subarray(0, 5))).toEqual([]);
    expect(decodeAmf0(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 5, 5]))).toEqual([]);
  });

  it('bounds depth and number of values', () => {
    const nested = Buffer.concat(Array<Buffer>(10_000).fill(Buffer.from([0x03, 0, 1, 0x61])));
    expect(decodeAmf0(nested)).toEqual([]);
    expect(decodeAmf0(Buffer.alloc(60_000, 5)).length).toBeLessThanOrEqual(500);
  });

  it('takes any bytes', () => {
    const random = new Random(5);
    for (let times = 0; times < 2_000; times += 1) {
      const bytes = Buffer.from(Array.from({ length: 60 }, () => random.below(times % 2 === 0 ? 20 : 256)));
      expect(Array.isArray(decodeAmf0(bytes))).toBe(true);
    }
  });
});
