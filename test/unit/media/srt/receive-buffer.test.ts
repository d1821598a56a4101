import { describe, expect, it } from 'vitest';
import type { DataPacket } from '../../../../src/media/srt/packet.ts';
import { ReceiveBuffer, windowPackets } from '../../../../src/media/srt/receive-buffer.ts';
import { addSequence } from '../../../../src/media/srt/sequence-number.ts';
import { Random } from '../../../support/random.ts';

const last = 2 ** 31 - 1;

function packet(sequence: number, timestampMs = 0): DataPacket {
  const timestampUs = (timestampMs * 1_000) >>> 0;
  const fields = { key: undefined, destination: 1, payload: Buffer.alloc(0) };
  return { kind: 'data', sequence, timestampUs, ...fields };
}

function open(initial: number, latencyMs = 200) {
  const delivered: number[] = [];
  const buffer = new ReceiveBuffer(initial, latencyMs, ({ sequence }) => delivered.push(sequence));
  return { buffer, delivered };
}

describe('ReceiveBuffer', () => {
  it('delivers packets in order at once, and each once', () => {
    const { buffer, delivered } = open(5);
    for (const sequence of [5, 6, 6, 5, 7]) buffer.push(packet(sequence));
    expect(delivered).toEqual([5, 6, 7]);
    expect(buffer).toMatchObject({ received: 5, duplicates: 2, lost: 0, missing: 0, nextSequence: 8 });
  });

  it('reports a gap once, and delivers when it is filled', () => {
    const { buffer, delivered } = open(1);
    buffer.push(packet(1));
    expect(buffer.push(packet(4))).toEqual({ first: 2, last: 3 });
    expect(buffer.push(packet(5))).toBeUndefined();
    expect(buffer.missingRanges(10)).toEqual([{ first: 2, last: 3 }]);
    buffer.push(packet(3));
    expect(buffer.missingRanges(10)).toEqual([{ first: 2, last: 2 }]);
    expect(delivered).toEqual([1]);
    buffer.push(packet(2));
    expect(delivered).toEqual([1, 2, 3, 4, 5]);
    expect(buffer).toMatchObject({ lost: 2, recovered: 2, missing: 0, givenUp: 0 });
  });

  it('wraps after 31 bits', () => {
    const { buffer, delivered } = open(last - 1);
    for (const sequence of [last - 1, 0, 1]) buffer.push(packet(sequence));
    expect(buffer.missingRanges(10)).toEqual([{ first: last, last }]);
    buffer.push(packet(last));
    expect(delivered).toEqual([last - 1, last, 0, 1]);
  });

  it('gives a gap up when what follows is older than the latency', () => {
    const { buffer, delivered } = open(1, 200);
    buffer.push(packet(1, 0));
    buffer.push(packet(3, 20));
    buffer.push(packet(4, 220));
    expect(delivered).toEqual([1]);
    buffer.push(packet(5, 221));
    expect(delivered).toEqual([1, 3, 4, 5]);
    expect(buffer).toMatchObject({ lost: 1, recovered: 0, givenUp: 1, missing: 0 });
    // The packet comes after all.
    buffer.push(packet(2, 10));
    expect(delivered).toEqual([1, 3, 4, 5]);
  });

  it('measures the latency across the wrap of timestamps', () => {
    const { buffer, delivered } = open(1, 200);
    const wrapMs = 2 ** 32 / 1_000;
    buffer.push(packet(1, wrapMs - 20));
    buffer.push(packet(3, wrapMs - 10));
    buffer.push(packet(4, 100));
    expect(delivered).toEqual([1]);
    buffer.push(packet(5, 200));
    expect(delivered).toEqual([1, 3, 4, 5]);
  });

  it('waits no longer for packets that the sender dropped', () => {
    const { buffer, delivered } = open(1);
    for (const sequence of [1, 4, 6]) buffer.push(packet(sequence));
    buffer.drop({ first: 3, last: 5 });
    expect(delivered).toEqual([1]);
    expect(buffer.missingRanges(10)).toEqual([{ first: 2, last: 2 }]);
    buffer.push(packet(2));
    expect(delivered).toEqual([1, 2, 4, 6]);
    expect(buffer).toMatchObject({ missing: 0, givenUp: 2 });
  });

  it('gives up everything for a sender that is a window ahead or silent', () => {
    const { buffer, delivered } = open(1);
    buffer.push(packet(2));
    buffer.push(packet(windowPackets + 10));
    expect(delivered).toEqual([2, windowPackets + 10]);
    buffer.push(packet(windowPackets + 12));
    expect(buffer.missing).toBe(1);
    buffer.giveUpAll();
    expect(delivered.at(-1)).toBe(windowPackets + 12);
    expect(buffer.missing).toBe(0);
  });

  it('delivers everything in order whatever the network does, within the latency', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const random = new Random(seed);
      const initial = random.pick([0, 7, last - 100]);
      const { buffer, delivered } = open(initial, 200);
      const lost: DataPacket[] = [];
      const sent: number[] = [];
      for (let index = 0; index < 500; index += 1) {
        const one = packet(addSequence(initial, index), index);
        sent.push(one.sequence);
        if (index < 490 && random.below(10) === 0) lost.push(one);
        else buffer.push(one);
        // Retransmissions come in any order, at most 100 ms later.
        while (lost.length > 0 && (random.below(4) === 0 || index - lost[0]!.timestampUs / 1_000 > 100)) {
          buffer.push(lost.splice(random.below(2) === 0 ? 0 : random.below(lost.length), 1)[0]!);
        }
      }
      for (const one of lost) buffer.push(one);
      expect(delivered, `seed ${seed}`).toEqual(sent);
      expect(buffer.lost, `seed ${seed}`).toBe(buffer.recovered);
    }
  });
});
