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
  const empty = { app: '', encoder: '', capabilities: {}, objectEncoding: 0 };
  expect(readConnect(decodeCommand(encodeAmf0('connect', 1)))).toEqual(empty);
  expect(connectWith({ app: 5, flashVer: null })).toEqual(empty);
});

test('the encoder is one printable line of 64 characters', () => {
  expect(connectWith({ flashVer: `FMLE/3.0\n\u001b[31m${'x'.repeat(100)}` }).encoder).toBe(
    `FMLE/3.0??[31m${'x'.repeat(50)}`,
  );
});

test('the answer names what the server accepts, where the encoder names what it sends', () => {
  const connect = connectWith({
    capsEx: 15,
    fourCcList: ['av01', 'vvc1'],
    audioFourCcInfoMap: new Map<string, AmfValue>([['*', 7]]),
  });
  expect(connect.capabilities).toEqual({
    fourCcList: expect.arrayContaining([
      'avc1',
      'hvc1',
      'av01',
      'mp4a',
      'Opus',
      'ac-3',
      'ec-3',
      'fLaC',
      '.mp3',
    ]),
    audioFourCcInfoMap: { mp4a: 4, Opus: 4, 'ac-3': 4, 'ec-3': 4, fLaC: 4, '.mp3': 4 },
    capsEx: 14,
  });
  expect(connectWith({ videoFourCcInfoMap: 1 }).capabilities).toEqual({
    videoFourCcInfoMap: { avc1: 4, hvc1: 4, av01: 4 },
  });
});

test('a prototype from the wire is not looked at', () => {
  const fields = { ['__proto__']: { app: 'live', flashVer: 'evil' } };
  expect(connectWith(fields)).toMatchObject({ app: '', encoder: '' });
  expect(({} as Record<string, unknown>).app).toBeUndefined();
});
