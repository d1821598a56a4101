import type { DataPacket, SequenceRange } from './packet.ts';
import { addSequence, sequenceDistance, timestampDistanceUs } from './sequence-number.ts';

/**
 * Size of the buffer, and the flow window that is offered: packets beyond it are not sent before earlier ones are
 * acknowledged.
 */
export const windowPackets = 8_192;
const mask = windowPackets - 1;

/** A packet that the sender gave up. */
const DROPPED = Symbol('dropped');

/**
 * Puts packets in order. A packet is delivered as soon as all before it are, so that only a gap delays media, and a gap is
 * given up when media that follows it is older than the latency by the sender's clock. That clock advances with what arrives:
 * neither a network that stalls nor a busy process makes packets late that are still on their way.
 */
export class ReceiveBuffer {
  readonly #latencyUs: number;
  readonly #deliver: (packet: DataPacket) => void;
  readonly #slots: (DataPacket | typeof DROPPED | undefined)[] = new Array(windowPackets);
  /** First sequence number that was neither delivered nor given up. */
  #next: number;
  /** One past the newest that arrived. */
  #end: number;
  #missing = 0;
  #newestUs: number | undefined;
  /** Round trip, in which packets that were requested within the latency may still arrive. */
  roundTripUs = 0;
  received = 0;
  lost = 0;
  recovered = 0;
  duplicates = 0;
  givenUp = 0;

  constructor(initialSequence: number, latencyMs: number, deliver: (packet: DataPacket) => void) {
    this.#next = initialSequence;
    this.#end = initialSequence;
    this.#latencyUs = latencyMs * 1_000;
    this.#deliver = deliver;
  }

  get nextSequence(): number {
    return this.#next;
  }

  /** Packets that are awaited between others. */
  get missing(): number {
    return this.#missing;
  }

  get freePackets(): number {
    return windowPackets - sequenceDistance(this.#next, this.#end);
  }

  /** @returns the gap that this packet reveals, to be reported at once */
  push(packet: DataPacket): SequenceRange | undefined {
    this.received += 1;
    if (sequenceDistance(this.#next, packet.sequence) >= windowPackets) this.#makeRoom(packet.sequence);
    const offset = sequenceDistance(this.#next, packet.sequence);
    if (offset < 0 || this.#slots[packet.sequence & mask] !== undefined) {
      this.duplicates += 1;
      return undefined;
    }
    this.#slots[packet.sequence & mask] = packet;
    if (this.#newestUs === undefined || timestampDistanceUs(this.#newestUs, packet.timestampUs) > 0) {
      this.#newestUs = packet.timestampUs;
    }
    const skipped = sequenceDistance(this.#end, packet.sequence);
    const gap = skipped > 0 ? { first: this.#end, last: addSequence(packet.sequence, -1) } : undefined;
    if (skipped >= 0) {
      this.#end = addSequence(packet.sequence, 1);
      this.#missing += skipped;
      this.lost += skipped;
    } else {
      this.#missing -= 1;
      this.recovered += 1;
    }
    this.#deliverInOrder();
    this.#giveUpLate();
    return gap === undefined || sequenceDistance(this.#next, gap.last) < 0 ? undefined : gap;
  }

  /** Forgets packets that the sender no longer has. */
  drop({ first, last }: SequenceRange): void {
    const from = Math.max(0, sequenceDistance(this.#next, first));
    const to = Math.min(sequenceDistance(this.#next, last), sequenceDistance(this.#next, this.#end) - 1);
    for (let offset = from; offset <= to; offset += 1) {
      const at = addSequence(this.#next, offset) & mask;
      if (this.#slots[at] !== undefined) continue;
      this.#slots[at] = DROPPED;
      this.#missing -= 1;
      this.givenUp += 1;
    }
    this.#deliverInOrder();
  }

  /** Gives up all missing packets of a sender that has fallen silent. */
  giveUpAll(): void {
    while (this.#missing > 0) this.#giveUpGap();
  }

  missingRanges(maxRanges: number): SequenceRange[] {
    const ranges: SequenceRange[] = [];
    let found = 0;
    let first: number | undefined;
    // Ends behind the last missing packet: what follows it has arrived.
    for (let at = this.#next; found < this.#missing && ranges.length < maxRanges; at = addSequence(at, 1)) {
      const isMissing = this.#slots[at & mask] === undefined;
      if (isMissing) {
        first ??= at;
        found += 1;
      }
      if (first === undefined || (isMissing && found < this.#missing)) continue;
      ranges.push({ first, last: isMissing ? at : addSequence(at, -1) });
      first = undefined;
    }
    return ranges;
  }

  #deliverInOrder(): void {
    for (;;) {
      const at = this.#next & mask;
      const packet = this.#slots[at];
      if (packet === undefined) return;
      this.#slots[at] = undefined;
      this.#next = addSequence(this.#next, 1);
      if (packet !== DROPPED) this.#deliver(packet);
    }
  }

  #giveUpLate(): void {
    while (this.#missing > 0) {
      const follower = this.#firstArrived();
      const ageUs = timestampDistanceUs(follower.timestampUs, this.#newestUs!);
      if (ageUs <= this.#latencyUs + Math.min(this.roundTripUs, this.#latencyUs)) return;
      this.#giveUpGap();
    }
  }

  #giveUpGap(): void {
    const end = this.#afterGap();
    const length = sequenceDistance(this.#next, end);
    this.#missing -= length;
    this.givenUp += length;
    this.#next = end;
    this.#deliverInOrder();
  }

  /** Finds the first packet behind a gap, which ends with one. */
  #firstArrived(): DataPacket {
    for (let at = this.#next; ; at = addSequence(at, 1)) {
      const packet = this.#slots[at & mask];
      if (packet !== undefined && packet !== DROPPED) return packet;
    }
  }

  #afterGap(): number {
    let at = this.#next;
    while (this.#slots[at & mask] === undefined) at = addSequence(at, 1);
    return at;
  }

  /** Delivers everything when the sender is a whole window ahead. */
  #makeRoom(sequence: number): void {
    while (this.#missing > 0 && sequenceDistance(this.#next, sequence) >= windowPackets) this.#giveUpGap();
    const ahead = sequenceDistance(this.#next, sequence);
    if (ahead < windowPackets) return;
    this.lost += ahead;
    this.givenUp += ahead;
    this.#next = sequence;
    this.#end = sequence;
  }
}
