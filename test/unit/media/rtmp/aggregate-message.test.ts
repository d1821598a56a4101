import { expect, test } from 'vitest';
import { splitAggregate } from '../../../../src/media/rtmp/aggregate-message.ts';

function tag(type: number, timestampMs: number, body: string): Buffer {
  const header = Buffer.alloc(11);
  header[0] = type;
  header.writeUIntBE(body.length, 1, 3);
  header.writeUIntBE(timestampMs & 0xffffff, 4, 3);
  header[7] = timestampMs >>> 24;
  return Buffer.concat([header, Buffer.from(body), Buffer.alloc(4)]);
}

test('splits into tags on the time line of the message', () => {
  const payload = Buffer.concat([tag(9, 5_000, 'video'), tag(8, 5_023, 'audio'), tag(18, 4_990, '')]);
  expect(splitAggregate(payload, 100)).toEqual([
    { type: 9, timestampMs: 100, body: Buffer.from('video') },
    { type: 8, timestampMs: 123, body: Buffer.from('audio') },
    { type: 18, timestampMs: 90, body: Buffer.alloc(0) },
  ]);
});

test('takes timestamps above 24 bits, and wraps at 2^32', () => {
  const payload = Buffer.concat([tag(9, 0xfffffff0, 'a'), tag(9, 0x00000010, 'b')]);
  expect(splitAggregate(payload, 0xfffffff0).map(each => each.timestampMs)).toEqual([0xfffffff0, 0x10]);
});

test('an empty aggregate has no tags', () => {
  expect(splitAggregate(Buffer.alloc(0), 0)).toEqual([]);
});

test.each([1, 10, 11, 15, 19])('refuses a tag that is cut off after %i bytes', length => {
  const payload = Buffer.concat([tag(9, 0, 'first'), tag(9, 0, 'video').subarray(0, length)]);
  expect(() => splitAggregate(payload, 0)).toThrow(expect.objectContaining({ code: 'media-malformed' }));
});

test('takes only so many tags in one message', () => {
  const payload = Buffer.concat(Array.from({ length: 1001 }, () => tag(8, 0, '')));
  expect(splitAggregate(payload.subarray(0, -15), 0)).toHaveLength(1000);
  expect(() => splitAggregate(payload, 0)).toThrow('more than 1000 tags in an aggregate message');
});
