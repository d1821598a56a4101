import type { OrderedPacket } from '../../webrtc/rtp/jitter-buffer.ts';

export interface RtpFrame {
  readonly timestamp: number;
  readonly payloads: readonly Buffer[];
  /** Arrival of the first packet. */
  readonly arrivedAtMs: number;
}

/** Maximum packets of one frame, at 1.2 kB each. */
const maxPackets = 8_192;

/** Gathers the packets of a frame: those with its timestamp, of which the last one is marked. */
export class FrameAssembler {
  #payloads: Buffer[] = [];
  #timestamp: number | undefined;
  #arrivedAtMs = 0;
  /** Packets of this timestamp are missing. */
  #damaged: number | undefined;

  /** Returns the frames that are complete now. */
  push({ packet, arrivedAtMs, missing }: OrderedPacket): RtpFrame[] {
    const { timestamp, payload, isMarked } = packet;
    const complete: RtpFrame[] = [];
    if (missing > 0) {
      this.#payloads = [];
      this.#damaged = timestamp;
    } else if (timestamp !== this.#timestamp) {
      complete.push(...this.#take());
      this.#damaged = undefined;
    }
    if (timestamp !== this.#timestamp) {
      this.#timestamp = timestamp;
      this.#arrivedAtMs = arrivedAtMs;
    }
    if (this.#damaged === timestamp || this.#payloads.length >= maxPackets) return complete;
    // Empty ones only probe the bandwidth.
    if (payload.length > 0) this.#payloads.push(payload);
    if (isMarked) complete.push(...this.#take());
    return complete;
  }

  #take(): RtpFrame[] {
    const { length } = this.#payloads;
    if (length === 0 || length >= maxPackets || this.#timestamp === undefined) return [];
    const frame = { timestamp: this.#timestamp, payloads: this.#payloads, arrivedAtMs: this.#arrivedAtMs };
    this.#payloads = [];
    return [frame];
  }
}
