import { expect, test } from 'vitest';
import { JitterBuffer } from '../../../src/webrtc/rtp/jitter-buffer.ts';
import { Random } from '../../support/random.ts';
import { parsedRtp } from '../../support/rtp.ts';

const options = { maxWaitMs: 500, canRequest: true };

function pushAll(buffer: JitterBuffer, numbers: readonly number[], nowMs: number): void {
  for (const sequenceNumber of numbers) buffer.push(parsedRtp({ sequenceNumber }), nowMs);
}

function pulled(buffer: JitterBuffer, nowMs: number): [number, number][] {
  return [...buffer.pull(nowMs)].map(({ packet, missing }) => [packet.sequenceNumber, missing]);
}

test('packets come in order, also over the wrap of their number', () => {
  const buffer = new JitterBuffer(options);
  pushAll(buffer, [65_534, 0, 65_535, 1], 0);
  expect(pulled(buffer, 0)).toEqual([
    [65_534, 0],
    [65_535, 0],
    [0, 0],
    [1, 0],
  ]);
});

test('a missing packet is asked for again and again, and recovered', () => {
  const buffer = new JitterBuffer(options);
  pushAll(buffer, [10, 12], 1000);
  expect(pulled(buffer, 1000)).toEqual([[10, 0]]);
  expect(buffer.requests(1000, 40)).toEqual([11]);
  expect(buffer.requests(1030, 40)).toEqual([]);
  expect(buffer.requests(1040, 40)).toEqual([11]);
  pushAll(buffer, [11, 11, 10], 1100);
  expect(pulled(buffer, 1100)).toEqual([
    [11, 0],
    [12, 0],
  ]);
  expect(buffer).toMatchObject({ received: 3, lost: 1, recovered: 1, expected: 3, isWaiting: false });
});

test('a packet that stays away is given up after its time, and the next one tells', () => {
  const buffer = new JitterBuffer(options);
  pushAll(buffer, [1, 4], 0);
  expect(pulled(buffer, 0)).toEqual([[1, 0]]);
  for (let ms = 25; ms < 500; ms += 25) expect(pulled(buffer, ms)).toEqual([]);
  expect(pulled(buffer, 500)).toEqual([[4, 2]]);
  pushAll(buffer, [2, 5], 600);
  expect(pulled(buffer, 600)).toEqual([[5, 0]]);
  expect(buffer).toMatchObject({ lost: 2, recovered: 0, received: 3 });
});

test('the time in which nothing was read does not count', () => {
  const buffer = new JitterBuffer(options);
  pushAll(buffer, [1, 3], 1000);
  expect(pulled(buffer, 1000)).toEqual([[1, 0]]);
  expect(buffer.requests(1025, 20)).toEqual([2]);
  // The process was busy. What follows is read first, then the packet that was sent again.
  pushAll(buffer, [4], 1700);
  expect(pulled(buffer, 1700)).toEqual([]);
  pushAll(buffer, [2], 1701);
  expect(pulled(buffer, 1701)).toEqual([
    [2, 0],
    [3, 0],
    [4, 0],
  ]);
});

test('a sender that starts over is followed', () => {
  const buffer = new JitterBuffer(options);
  pushAll(buffer, [1, 2, 30_000, 30_001], 0);
  expect(pulled(buffer, 0)).toEqual([
    [30_000, 1],
    [30_001, 0],
  ]);
});

test('any order and loss ends in rising numbers, and little is kept', () => {
  const random = new Random(11);
  const buffer = new JitterBuffer(options);
  let last = -1;
  for (let at = 0; at < 20_000; at++) {
    const sequenceNumber = (at + random.below(6)) & 0xffff;
    if (random.below(20) > 0) buffer.push(parsedRtp({ sequenceNumber }), at);
    for (const { packet } of buffer.pull(at)) {
      expect((packet.sequenceNumber - last) & 0xffff).toBeLessThan(0x8000);
      last = packet.sequenceNumber;
    }
    expect(buffer.requests(at, 50).length).toBeLessThan(600);
  }
});

test('a sender that skips numbers all the time costs a bounded amount', () => {
  const buffer = new JitterBuffer(options);
  let given = 0;
  for (let jump = 0; jump < 500; jump++) {
    pushAll(buffer, [(jump * 1_900) % 65_536], 0);
    given += pulled(buffer, 0).length;
    expect(buffer.requests(jump, 0).length).toBeLessThanOrEqual(2_000);
  }
  expect(given).toBeGreaterThan(490);
});

test('an old retransmission is no new beginning', () => {
  const buffer = new JitterBuffer(options);
  buffer.push(parsedRtp({ sequenceNumber: 9 }), 0, true);
  pushAll(buffer, [30_000], 0);
  buffer.push(parsedRtp({ sequenceNumber: 20_000 }), 0, true);
  pushAll(buffer, [30_001], 0);
  expect(pulled(buffer, 0)).toEqual([
    [30_000, 0],
    [30_001, 0],
  ]);
});
