import { readAc3Frame, readAdtsFrame, readEac3Frame, readMpegAudioFrame } from './audio-frames.ts';
import { AudioFrameReader, OpusReader } from './audio-reader.ts';
import type { ElementaryReader, ElementarySample, PesTimes } from './elementary-reader.ts';
import { PesAssembler, type PesHeader, readPesHeader } from './pes-assembler.ts';
import type { ElementaryStream } from './program-tables.ts';
import type { TsPacket } from './ts-packet.ts';
import { VideoReader } from './video-reader.ts';

const maxVideoPesBytes = 8 * 1024 * 1024;
const maxAudioPesBytes = 256 * 1024;
/** Far more than the slices of a frame. */
const maxVideoUnits = 4096;
/** Time without video after which a picture that has all its bytes is passed on: the next one may take seconds. */
const quietMs = 100;
/** PES packets of other streams that begin meanwhile, where padding does not show the end of a picture. */
const minOtherPackets = 2;

interface StreamReaderEvents {
  /** Called once, when the first PES packet with a time begins, which may take as long as its picture lasts. */
  began(): void;
  sample(sample: ElementarySample): void;
  /** Transport packets that are missing, at least. */
  lost(count: number): void;
  /** A PES packet is incomplete, malformed or too large. */
  dropped(): void;
  times(header: PesHeader): PesTimes | undefined;
}

/** Reads the transport packets of one elementary stream. */
export class StreamReader {
  readonly #isVideo: boolean;
  readonly #events: StreamReaderEvents;
  readonly #reader: ElementaryReader;
  readonly #assembler: PesAssembler;
  #times: PesTimes | undefined;
  #counter: number | undefined;
  #hasBegun = false;
  #isPadded = false;
  /** Start of a time without video. Undefined while it comes. */
  #quiet: { readonly sinceMs: number; readonly otherPackets: number } | undefined;
  /** The bytes so far are no picture that can be passed on. */
  #mustContinue = false;

  constructor(stream: ElementaryStream, events: StreamReaderEvents) {
    this.#isVideo = stream.kind === 'video';
    this.#events = events;
    this.#reader = createReader(stream, sample => events.sample(sample));
    this.#assembler = this.#isVideo
      ? new PesAssembler(maxVideoPesBytes, maxVideoUnits)
      : new PesAssembler(maxAudioPesBytes);
  }

  push({ payload, counter, isStart, isDiscontinuity, isPadded }: TsPacket): void {
    if (payload === undefined) return;
    if (this.#counter !== undefined) {
      const missing = (counter - this.#counter + 15) & 15;
      // A packet may be sent twice.
      if (missing === 15 && !isDiscontinuity) return;
      if (missing > 0) this.#lose(isDiscontinuity ? 0 : missing);
    }
    this.#counter = counter;
    this.#isPadded = isPadded;
    this.#quiet = undefined;
    this.#mustContinue = false;
    if (isStart) this.#start(payload);
    else this.#add(payload);
  }

  /**
   * Passes on a picture that is complete when no other one begins. Call it every few milliseconds.
   *
   * @param otherPackets PES packets of other streams that have begun so far
   */
  tick(nowMs: number, otherPackets: number): void {
    if (!this.#isVideo || this.#mustContinue) return;
    this.#quiet ??= { sinceMs: nowMs, otherPackets };
    if (nowMs - this.#quiet.sinceMs < quietMs) return;
    const hasEnded = this.#isPadded || this.#assembler.isComplete;
    if (!hasEnded && otherPackets - this.#quiet.otherPackets < minOtherPackets) return;
    this.#mustContinue = true;
    if (this.#reader.isFrame?.(this.#assembler.units) === true) this.#finish(undefined);
  }

  flush(): void {
    this.#finish(undefined);
  }

  #lose(count: number): void {
    if (count > 0) this.#events.lost(count);
    if (this.#assembler.drop()) this.#events.dropped();
    this.#reader.reset();
  }

  #start(payload: Buffer): void {
    const header = readPesHeader(payload);
    const times = header && this.#events.times(header);
    const startsWithUnit = header !== undefined && isStartCode(payload, header.dataAt);
    const isContinuation = header !== undefined && (times === undefined || !startsWithUnit);
    this.#finish({ times, isContinuation });
    if (header === undefined) {
      this.#events.dropped();
      return;
    }
    if (times !== undefined && !this.#hasBegun) {
      this.#hasBegun = true;
      this.#events.began();
    }
    this.#times = times;
    this.#assembler.start(header);
    this.#add(payload);
  }

  #add(payload: Buffer): void {
    if (!this.#assembler.add(payload)) {
      this.#events.dropped();
      this.#reader.reset();
    }
    // A frame of video may continue in the next packet.
    if (!this.#isVideo && this.#assembler.isComplete) this.#finish(undefined);
  }

  #finish(following: { times: PesTimes | undefined; isContinuation: boolean } | undefined): void {
    const taken = this.#assembler.take();
    if (taken === undefined) return;
    if (taken === 'truncated') this.#reader.reset();
    else {
      const retained = this.#reader.push({ times: this.#times, ...taken }, following);
      if (retained > 0) this.#assembler.retain(retained);
    }
  }
}

function createReader(
  { codec, config }: ElementaryStream,
  sample: (sample: ElementarySample) => void,
): ElementaryReader {
  switch (codec) {
    case 'avc1':
    case 'hvc1':
      return new VideoReader(codec, sample);
    case 'Opus':
      return new OpusReader(config, sample);
    case 'mp4a':
      return new AudioFrameReader(readAdtsFrame, sample);
    case '.mp3':
      return new AudioFrameReader(readMpegAudioFrame, sample);
    case 'ac-3':
      return new AudioFrameReader(readAc3Frame, sample);
    case 'ec-3':
      return new AudioFrameReader(readEac3Frame, sample);
  }
}

function isStartCode(payload: Buffer, at: number): boolean {
  const zeros = payload[at] === 0 && payload[at + 1] === 0;
  return zeros && (payload[at + 2] === 1 || (payload[at + 2] === 0 && payload[at + 3] === 1));
}
