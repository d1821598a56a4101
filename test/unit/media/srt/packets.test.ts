import { describe, expect, it } from 'vitest';
import {
  HANDSHAKE,
  readExtensions,
  readHandshake,
  writeExtensions,
  writeHandshake,
} from '../../../../src/media/srt/handshake.ts';
import {
  CONTROL,
  readAck,
  readLossList,
  readPacket,
  writeAck,
  writeControl,
  writeData,
  writeLossList,
} from '../../../../src/media/srt/packet.ts';
import { readPublishStreamId } from '../../../../src/media/srt/stream-id.ts';
import { Random } from '../../../support/random.ts';

describe('packets', () => {
  it('are read as they were written', () => {
    const data = { sequence: 2 ** 31 - 1, messageNumber: 3, key: 'odd', timestampUs: 2 ** 32 - 1 } as const;
    const payload = Buffer.from('payload');
    expect(readPacket(writeData({ ...data, destination: 9, payload }))).toEqual({
      kind: 'data',
      sequence: 2 ** 31 - 1,
      key: 'odd',
      timestampUs: 2 ** 32 - 1,
      destination: 9,
      payload,
    });
    const control = { type: CONTROL.ack, subtype: 0, info: 7, timestampUs: 1, destination: 9, body: payload };
    expect(readPacket(writeControl(control))).toEqual({ kind: 'control', ...control });
    expect(readPacket(Buffer.alloc(15))).toBeUndefined();
  });

  it('carry acknowledgements and loss lists', () => {
    const rates = { freePackets: 1, packetsPerSecond: 2, bytesPerSecond: 3 };
    const ack = writeAck({ nextSequence: 5, roundTripUs: 50_000, roundTripVarianceUs: 1, ...rates });
    expect(readAck(ack)).toEqual({ nextSequence: 5, roundTripUs: 50_000 });
    const ranges = [
      { first: 1, last: 1 },
      { first: 2 ** 31 - 2, last: 3 },
    ];
    expect(readLossList(writeLossList(ranges), 100)).toEqual(ranges);
    expect(readLossList(writeLossList([{ first: 5, last: 500 }]), 100)).toEqual([]);
    expect(readLossList(writeLossList([{ first: 5, last: 4 }]), 100)).toEqual([]);
  });
});

describe('handshakes', () => {
  const fixed = {
    version: 5,
    encryption: 0,
    initialSequence: 4,
    flowWindow: 8,
    socketId: 3,
    cookie: 2 ** 32 - 1,
  };
  const extensions = {
    receiverLatencyMs: 120,
    senderLatencyMs: 250,
    streamId: 'stream-key-1',
    keyMessage: Buffer.alloc(104, 1),
  };

  it('are read as they were written', () => {
    const handshake = { ...fixed, type: HANDSHAKE.conclusion, ...writeExtensions(extensions, 'request') };
    const read = readHandshake(writeHandshake(handshake))!;
    expect(read).toEqual(handshake);
    expect(readExtensions(read, 'request')).toEqual(extensions);
    expect(readExtensions(read, 'response')).toBe('rogue');
  });

  it('are refused or read whatever their bytes are', () => {
    const { extensions: bytes } = writeExtensions(extensions, 'request');
    const random = new Random(16);
    for (let count = 0; count < 5_000; count += 1) {
      const broken = Buffer.from(bytes.subarray(0, random.below(bytes.length + 1)));
      for (let times = random.below(4); times > 0 && broken.length > 0; times -= 1) {
        broken[random.below(broken.length)] = random.below(256);
      }
      const handshake = { ...fixed, type: HANDSHAKE.conclusion, extensionField: 7, extensions: broken };
      const read = readExtensions(handshake, 'request');
      expect(typeof read === 'string' || read.receiverLatencyMs >= 0).toBe(true);
    }
  });
});

describe('stream IDs', () => {
  it.each([
    ['abc-1'],
    ['s/abc-1'],
    ['/live/abc-1'],
    ['publish:abc-1'],
    ['#!::r=abc-1'],
    ['#!::m=publish,r=abc-1,u=someone'],
    ['%23%21%3A%3Ar%3Dabc-1%2Cm%3Dpublish'],
    ['abc-1?latency=5'],
  ])('%s names the key', streamId => {
    expect(readPublishStreamId(streamId)).toMatchObject({ ok: true, streamKey: 'abc-1' });
  });

  it.each([
    ['abc-1', ''],
    ['publish:abc-1?a=b&c', 'a=b&c'],
    ['#!::r=abc-1,m=publish,t=stream', ''],
    ['#!::r=abc-1?a=b,m=publish,u=crew&co,x=1', 'a=b&u=crew%26co&x=1'],
  ])('%s carries the query %j', (streamId, query) => {
    expect(readPublishStreamId(streamId)).toEqual({ ok: true, streamKey: 'abc-1', query });
  });

  it.each([
    [undefined, 'missing-key'],
    ['', 'missing-key'],
    ['#!::m=publish', 'missing-key'],
    ['#!::r=abc-1,m=request', 'play'],
    ['#!::r=abc-1,m=bidirectional', 'play'],
    ['read:abc-1', 'play'],
    ['a/b', 'invalid-key'],
    ['a b', 'invalid-key'],
    ['ä', 'invalid-key'],
    ['x'.repeat(257), 'invalid-key'],
  ])('%s is refused', (streamId, reason) => {
    expect(readPublishStreamId(streamId)).toMatchObject({ ok: false, reason });
  });
});
