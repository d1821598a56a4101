import { type AudioFrame, minHeaderBytes, type ReadAudioFrame } from './audio-frames.ts';
import type { ElementaryReader, ElementarySample, PesPacket } from './elementary-reader.ts';
import { opusPacketSamples, splitOpusUnits } from './opus-units.ts';

const ticksPerSecond = 90_000;
const opusTicks = ticksPerSecond / 48_000;
const emptyBytes = Buffer.alloc(0);

/** Frames with headers follow each other, in packets that need not begin with one. */
export class AudioFrameReader implements ElementaryReader {
  readonly #readFrame: ReadAudioFrame;
  readonly #sample: (sample: ElementarySample) => void;
  /** The beginning of a frame. */
  #unfinished: Buffer = emptyBytes;
  #nextTicks: number | undefined;
  #config: Buffer | undefined;

  constructor(readFrame: ReadAudioFrame, sample: (sample: ElementarySample) => void) {
    this.#readFrame = readFrame;
    this.#sample = sample;
  }

  reset(): void {
    this.#unfinished = emptyBytes;
    this.#nextTicks = undefined;
  }

  push({ data, times }: PesPacket): number {
    const bytes = this.#unfinished.length === 0 ? data : Buffer.concat([this.#unfinished, data]);
    const beginsAt = this.#unfinished.length;
    let dueTicks = times?.ptsTicks;
    let at = 0;
    while (at + minHeaderBytes <= bytes.length) {
      const frame = this.#readFrame(bytes, at);
      const end = at + (frame?.bytes ?? 0);
      if (frame === undefined || this.#isFollowedByOther(bytes, end)) {
        at += 1;
        continue;
      }
      if (end > bytes.length) break;
      if (at >= beginsAt && dueTicks !== undefined) {
        this.#nextTicks = dueTicks;
        dueTicks = undefined;
      }
      this.#emit(frame, bytes, at);
      at = end;
    }
    this.#unfinished = Buffer.from(bytes.subarray(at));
    // The frame that begins at the end of this packet is the one that its timestamp belongs to.
    if (at >= beginsAt && dueTicks !== undefined) this.#nextTicks = dueTicks;
    return 0;
  }

  /** Tells whether no frame follows, so that the header is a coincidence. */
  #isFollowedByOther(bytes: Buffer, end: number): boolean {
    return end + minHeaderBytes <= bytes.length && this.#readFrame(bytes, end) === undefined;
  }

  #emit(frame: AudioFrame, bytes: Buffer, at: number): void {
    const dtsTicks = this.#nextTicks;
    if (dtsTicks === undefined) return;
    this.#nextTicks = dtsTicks + frame.seconds * ticksPerSecond;
    const isNew = frame.config !== undefined && this.#config?.equals(frame.config) !== true;
    if (isNew) this.#config = frame.config;
    const data = Buffer.from(bytes.subarray(at + frame.headerBytes, at + frame.bytes));
    const config = isNew ? frame.config : undefined;
    this.#sample({ dtsTicks, ptsTicks: dtsTicks, data, isKeyframe: true, config });
  }
}

/** Opus packets have control headers and never continue in the next PES packet. */
export class OpusReader implements ElementaryReader {
  readonly #sample: (sample: ElementarySample) => void;
  #head: Buffer | undefined;
  #nextTicks: number | undefined;

  constructor(head: Buffer | undefined, sample: (sample: ElementarySample) => void) {
    this.#head = head;
    this.#sample = sample;
  }

  reset(): void {
    this.#nextTicks = undefined;
  }

  push({ data, times }: PesPacket): number {
    let dtsTicks = times?.ptsTicks ?? this.#nextTicks;
    if (dtsTicks === undefined) return 0;
    for (const packet of splitOpusUnits(data)) {
      const config = this.#head;
      this.#head = undefined;
      this.#sample({ dtsTicks, ptsTicks: dtsTicks, data: Buffer.from(packet), isKeyframe: true, config });
      dtsTicks += opusPacketSamples(packet) * opusTicks;
    }
    this.#nextTicks = dtsTicks;
    return 0;
  }
}
