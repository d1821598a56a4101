import { describe, expect, it } from 'vitest';
import { newStreamKeys, PayloadCipher } from '../../../../src/media/srt/key-material.ts';
import { CONTROL, readPacket, writeLossList } from '../../../../src/media/srt/packet.ts';
import { SrtReceiver } from '../../../../src/media/srt/receiver.ts';
import { SrtSender } from '../../../../src/media/srt/sender.ts';
import { Random } from '../../../support/random.ts';

/** A sender and a receiver with a network between them, on a clock of their own. */
function simulate({ lossPerMille, seed, seconds }: { lossPerMille: number; seed: number; seconds: number }) {
  const random = new Random(seed);
  const delayMs = 25;
  let nowMs = 0;
  const network: { readonly atMs: number; readonly arrive: () => void }[] = [];
  const pass = (arrive: () => void) => {
    if (random.below(1_000) >= lossPerMille) network.push({ atMs: nowMs + delayMs, arrive });
  };
  const received: number[] = [];
  const keys = newStreamKeys(16);
  const common = { initialSequence: 2 ** 31 - 200, latencyMs: 200, peerSocketId: 5, nowMs: () => nowMs };
  const receiver: SrtReceiver = new SrtReceiver({
    ...common,
    encryption: { cipher: new PayloadCipher(keys), passphrase: '' },
    send: bytes => {
      const packet = readPacket(bytes)!;
      pass(() => packet.kind === 'control' && sender.control(packet));
    },
    payload: payload => received.push(payload.readUInt32BE()),
  });
  const sender: SrtSender = new SrtSender({
    ...common,
    cipher: new PayloadCipher(keys),
    send: bytes => {
      const packet = readPacket(Buffer.from(bytes))!;
      pass(() => (packet.kind === 'data' ? receiver.data(packet) : receiver.control(packet)));
    },
  });
  let sent = 0;
  for (; nowMs < seconds * 1_000 + 1_000; nowMs += 1) {
    while (network.length > 0 && network[0]!.atMs <= nowMs) network.shift()!.arrive();
    if (nowMs < seconds * 1_000 && nowMs % 2 === 0) {
      const payload = Buffer.alloc(1_316);
      payload.writeUInt32BE(sent);
      sender.push(payload);
      sent += 1;
    }
    if (nowMs % 10 === 0) {
      sender.tick();
      receiver.tick();
    }
  }
  return { sent, received, stats: receiver.stats, retransmitted: sender.retransmitted };
}

describe('a sender and a receiver', () => {
  it('transfer everything in order without losses, and measure the round trip', () => {
    const { sent, received, stats, retransmitted } = simulate({ lossPerMille: 0, seed: 1, seconds: 5 });
    expect(received).toEqual(Array.from({ length: sent }, (_, index) => index));
    expect(retransmitted).toBe(0);
    expect(stats).toMatchObject({ roundTripMs: 50, lost: 0 });
  });

  it.each([1, 2, 3, 4, 5])(
    'recover a loss of 5 percent with 200 ms latency at a round trip of 50 ms (seed %i)',
    seed => {
      const { sent, received, stats, retransmitted } = simulate({ lossPerMille: 50, seed, seconds: 20 });
      // The very last packets have no successor that reveals their loss.
      const expected = Array.from({ length: sent - 5 }, (_, index) => index);
      expect(received.slice(0, expected.length)).toEqual(expected);
      expect(stats.lost).toBeGreaterThan(300);
      expect(stats.givenUp).toBe(0);
      expect(retransmitted).toBeLessThan(2 * stats.lost);
    },
  );

  it('give up what is too late, and continue', () => {
    const { sent, received, stats } = simulate({ lossPerMille: 600, seed: 6, seconds: 5 });
    expect(stats.givenUp).toBeGreaterThan(10);
    expect(received.length).toBeGreaterThan(sent / 2);
    expect(received).toEqual([...received].sort((one, other) => one - other));
  });
});

describe('a sender', () => {
  it('answers a loss report that names everything over and over with a bounded amount', () => {
    let sent = 0;
    const sender = new SrtSender({
      initialSequence: 5_000,
      latencyMs: 200,
      peerSocketId: 5,
      cipher: undefined,
      nowMs: () => 0,
      send: () => {
        sent += 1;
      },
    });
    for (let packet = 0; packet < 100; packet += 1) sender.push(Buffer.alloc(1));
    sent = 0;
    const everything = Array.from({ length: 4_000 }, () => ({ first: 1, last: 5_099 }));
    const report = { kind: 'control', type: CONTROL.lossReport, subtype: 0, info: 0 } as const;
    for (let reports = 0; reports < 20; reports += 1) {
      const body = writeLossList(everything);
      sender.control({ ...report, timestampUs: 0, destination: 0, body });
    }
    // Expects each packet once, since it may be on its way, and one drop request for each report.
    expect(sent).toBe(100 + 20);
  });
});
