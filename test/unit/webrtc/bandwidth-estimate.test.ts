import { expect, test } from 'vitest';
import { BandwidthEstimate } from '../../../src/webrtc/rtp/bandwidth-estimate.ts';

const packetBytes = 1_200;

/** Sends at `bitsPerSecond`, or the limit, for `seconds` over a network that loses packets. */
class Sender {
  readonly estimate = new BandwidthEstimate();
  #nowMs = 0;
  #lost = 0;
  #carry = 0;

  send(
    seconds: number,
    bitsPerSecond: number,
    { capacity = Number.POSITIVE_INFINITY, lostShare = 0, roundTripMs = 20, asks = true } = {},
  ): void {
    for (let tick = 0; tick < seconds * 40; tick++) {
      const rate = Math.min(bitsPerSecond, this.estimate.bitsPerSecond);
      const share = Math.max(lostShare, 1 - capacity / rate);
      this.#carry += rate / 40 / 8 / packetBytes;
      const packets = Math.floor(this.#carry);
      this.#carry -= packets;
      this.estimate.sent(packets, packets * packetBytes);
      for (let packet = 0; packet < packets; packet++) {
        const before = Math.floor(this.#lost);
        this.#lost += share;
        if (asks && Math.floor(this.#lost) > before) this.estimate.missed();
      }
      if (tick % 40 === 0) this.estimate.reported(Math.floor(this.#lost), roundTripMs);
      this.#nowMs += 25;
      this.estimate.tick(this.#nowMs);
    }
  }
}

test('a network without congestion has no limit, whatever is lost now and then', () => {
  const sender = new Sender();
  sender.send(30, 3e6);
  sender.send(30, 3e6, { lostShare: 0.03 });
  expect(sender.estimate.bitsPerSecond).toBe(Number.POSITIVE_INFINITY);
});

test.each([true, false])('losses limit to less than what arrived (the client asks for them: %s)', asks => {
  const sender = new Sender();
  sender.send(5, 2.6e6);
  sender.send(3, 2.6e6, { capacity: 1e6, asks });
  expect(sender.estimate.bitsPerSecond).toBeLessThan(1e6);
  expect(sender.estimate.bitsPerSecond).toBeGreaterThan(0.5e6);
});

test('a queue on the way limits, and a longer way does not forever', () => {
  const sender = new Sender();
  sender.send(5, 2.6e6);
  sender.send(2, 2.6e6, { roundTripMs: 600 });
  expect(sender.estimate.bitsPerSecond).toBeLessThan(2e6);
  sender.send(300, 2e5, { roundTripMs: 600 });
  expect(sender.estimate.bitsPerSecond).toBe(Number.POSITIVE_INFINITY);
});

test('more is tried after some time, later and later while that fails', () => {
  const sender = new Sender();
  sender.send(5, 2.6e6);
  const triesAfter: number[] = [];
  for (let round = 0; round < 5; round++) {
    sender.send(3, 2.6e6, { capacity: 1e6 });
    const limit = sender.estimate.bitsPerSecond;
    let seconds = 0;
    while (sender.estimate.bitsPerSecond <= limit) {
      sender.send(1, limit / 2);
      seconds += 1;
    }
    triesAfter.push(seconds);
  }
  expect(triesAfter[0]).toBeLessThanOrEqual(20);
  expect(triesAfter.at(-1)).toBeGreaterThan(triesAfter[0]! * 1.5);
});

test('forged reports end at a limit that still carries audio', () => {
  const { estimate } = new Sender();
  for (let nowMs = 0; nowMs < 60_000; nowMs += 25) {
    estimate.sent(10, 10 * packetBytes);
    for (let count = 0; count < 100; count++) estimate.missed();
    estimate.reported(nowMs % 2 === 0 ? 0x7fffff : -0x800000, nowMs % 3 === 0 ? 0 : 1e9);
    estimate.tick(nowMs);
  }
  expect(estimate.bitsPerSecond).toBe(100_000);
});
