import { expect, test } from 'vitest';
import { decodeCommand, readConnect } from '../../../../src/ingest/rtmp/commands.ts';
import { type AmfValue, encodeAmf0 } from '../../../support/amf0.ts';

function connectWith(fields: { readonly [name: string]: AmfValue }) {
  return readConnect(decodeCommand(encodeAmf0('connect', 1, fields)));
}

test('decodes name, transaction and arguments', () => {
  const payload = encodeAmf0('publish', 5, null, 'key', 'live');
  expect(decodeCommand(payload)).toEqual({ name: 'publish', transactionId: 5, args: [null, 'key', 'live'] });
});

test('a command that the library does not know is decoded as well', () => {
  expect(decodeCommand(encodeAmf0('_checkbw', 9, null))).toEqual({
    name: '_checkbw',
    transactionId: 9,
    args: [null],
  });
});

test('arguments from an AMF3 value on are left out', () => {
  const payload = Buffer.concat([encodeAmf0('call', 2, null), Buffer.from([0x11, 1, 2])]);
  expect(decodeCommand(payload)).toEqual({ name: 'call', transactionId: 2, args: [null] });
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a number for a name', encodeAmf0(1, 2)],
  ['an unknown type', Buffer.from([0x42])],
])('refuses %s', (_what, payload) => {
  expect(() => decodeCommand(payload)).toThrow(expect.objectContaining({ code: 'media-malformed' }));
});

test('a truncated command throws', () => {
  const payload = encodeAmf0('connect', 1, { app: 's', tcUrl: 'rtmp://host/s' });
  for (let length = 1; length < payload.length; length += 1) {
    try {
      decodeCommand(payload.subarray(0, length));
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
});

test('nesting past the stack is an error that can be caught', () => {
  const bomb = Buffer.concat(Array.from({ length: 3_200 }, () => Buffer.from([0x0a, 0, 0, 0, 1])));
  expect(() => decodeCommand(Buffer.concat([encodeAmf0('connect', 1), bomb]))).toThrow();
});

test('connect without anything is an app without a name', () => {
  const empty = { app: '', encoder: '', fourCcList: [], capabilities: {}, objectEncoding: 0 };
  expect(readConnect(decodeCommand(encodeAmf0('connect', 1)))).toEqual(empty);
  expect(connectWith({ app: 5, flashVer: null, fourCcList: 'avc1', videoFourCcInfoMap: 1 })).toEqual(empty);
});

test('the encoder is one printable line of 64 characters', () => {
  expect(connectWith({ flashVer: `FMLE/3.0\n\u001b[31m${'x'.repeat(100)}` }).encoder).toBe(
    `FMLE/3.0??[31m${'x'.repeat(50)}`,
  );
});

test('the FourCCs of list and maps are merged, and each is echoed unchanged', () => {
  const connect = connectWith({
    fourCcList: ['av01', 'hvc1', 'toolong', 3],
    videoFourCcInfoMap: new Map<string, AmfValue>([
      ['hvc1', 4],
      ['*', 7],
      ['vp09', 'no number'],
    ]),
  });
  expect(connect.fourCcList).toEqual(['av01', 'hvc1', '*']);
  expect(connect.capabilities).toEqual({
    fourCcList: ['av01', 'hvc1'],
    videoFourCcInfoMap: { hvc1: 4, '*': 7 },
  });
});

test('a prototype from the wire is not looked at', () => {
  const fields = { ['__proto__']: { app: 'live', flashVer: 'evil' } };
  expect(connectWith(fields)).toMatchObject({ app: '', encoder: '' });
  expect(({} as Record<string, unknown>).app).toBeUndefined();
});
