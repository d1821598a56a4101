import { malformed } from './box-reader.ts';
import { readMovie, type SampleDefaults, type TrackDescription } from './movie-box.ts';
import { type LocatedSample, readMovieFragment } from './movie-fragment.ts';

/** One coded frame (video) or access unit (audio). */
export interface Sample {
  readonly trackId: number;
  /** Decode time in the track's timescale. */
  readonly dtsTicks: number;
  readonly durationTicks: number;
  /** Presentation time minus decode time; may be negative. */
  readonly compositionOffsetTicks: number;
  readonly isSync: boolean;
  /** Read-only: it may be a view of a larger buffer. */
  readonly data: Buffer;
}

/** Callbacks of a {@link FragmentReader}, called during `push` in the order of the stream. */
interface FragmentHandlers {
  /** Called once, before the first sample. */
  onInit(tracks: TrackDescription[]): void;
  onSample(sample: Sample): void;
}

const DEFAULT_MAX_BOX_BYTES = 32 * 1024 * 1024;

/** Memory allocated for a box before its bytes arrive. */
const FIRST_BODY_BYTES = 256 * 1024;

/** A top-level box with a complete header. */
interface OpenBox {
  readonly type: string;
  /** Positions in the stream of its header and of its body. */
  readonly position: number;
  readonly bodyPosition: number;
  readonly bodyBytes: number;
}

/**
 * Parses a stream of fragmented MP4, however it is split, into track descriptions and samples.
 *
 * Skips boxes other than `moov`, `moof` and `mdat`, and tracks that are neither video nor audio. All samples of a `moof` must lie
 * in the `mdat` after it; they are emitted when that is complete.
 *
 * **Source**: ISO/IEC 14496-12:2022, 4.2 and 8.8.
 */
export class FragmentReader {
  readonly #handlers: FragmentHandlers;
  readonly #maxBoxBytes: number;
  /** Position in the stream of the next byte. */
  #position = 0;
  /** The header being read: 8 bytes, or 16 with a 64-bit size. */
  readonly #header = Buffer.alloc(16);
  #headerBytes = 0;
  #box: OpenBox | undefined;
  /** Received bytes of the open box's body, and its buffer if it is kept. */
  #bodyBytes = 0;
  #body: Buffer | undefined;
  #defaults: ReadonlyMap<number, SampleDefaults> | undefined;
  /** Tracks to emit samples of. */
  #trackIds: ReadonlySet<number> = new Set();
  readonly #nextDts = new Map<number, number>();
  /** Samples of the last `moof`, waiting for their `mdat`. */
  #announced: LocatedSample[] = [];
  #failure: unknown;

  /** `maxBoxBytes` limits top-level boxes, by default to 32 MiB. */
  constructor(handlers: FragmentHandlers, options: { maxBoxBytes?: number } = {}) {
    this.#handlers = handlers;
    this.#maxBoxBytes = options.maxBoxBytes ?? DEFAULT_MAX_BOX_BYTES;
  }

  /**
   * Reads the next bytes of the stream. The reader may keep views of `chunk`.
   *
   * @throws AppError `media-malformed`, naming the box; after that, or when a callback threw, every push throws the same
   */
  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      let at = 0;
      while (at < chunk.length) {
        at = this.#box === undefined ? this.#readHeader(chunk, at) : this.#readBody(chunk, at, this.#box);
      }
    } catch (error) {
      this.#failure = error;
      this.#body = undefined;
      throw error;
    }
  }

  /** Reads header bytes from `chunk` at `at` and returns the position after them. */
  #readHeader(chunk: Buffer, at: number): number {
    const isLong = this.#headerBytes >= 8 && this.#header.readUInt32BE(0) === 1;
    const wanted = (isLong ? 16 : 8) - this.#headerBytes;
    const taken = chunk.copy(this.#header, this.#headerBytes, at, Math.min(chunk.length, at + wanted));
    this.#headerBytes += taken;
    this.#position += taken;
    const size = this.#headerBytes >= 8 ? this.#header.readUInt32BE(0) : 0;
    if (taken === wanted && (isLong || size !== 1)) {
      this.#openBox(isLong ? Number(this.#header.readBigUInt64BE(8)) : size);
    }
    return at + taken;
  }

  #openBox(sizeBytes: number): void {
    const type = this.#header.toString('latin1', 4, 8);
    const position = this.#position - this.#headerBytes;
    const bodyBytes = sizeBytes - this.#headerBytes;
    // Size 0 means "to the end of the file", which a live stream does not have.
    if (bodyBytes < 0) throw malformed(type, `size ${sizeBytes}`);
    if (sizeBytes > this.#maxBoxBytes) {
      throw malformed(type, `size ${sizeBytes}, at most ${this.#maxBoxBytes} bytes are taken`);
    }
    const box = { type, position, bodyPosition: this.#position, bodyBytes };
    if (type === 'mdat') this.#checkAnnounced(box);
    this.#box = box;
    this.#headerBytes = 0;
    this.#bodyBytes = 0;
    this.#body = undefined;
    if (bodyBytes === 0) this.#closeBox(box, Buffer.alloc(0));
  }

  /** Reads body bytes from `chunk` at `at` and returns the position after them. */
  #readBody(chunk: Buffer, at: number, box: OpenBox): number {
    const end = Math.min(chunk.length, at + box.bodyBytes - this.#bodyBytes);
    const count = end - at;
    this.#position += count;
    const isKept =
      box.type === 'moov' || box.type === 'moof' || (box.type === 'mdat' && this.#announced.length > 0);
    if (isKept && count === box.bodyBytes) {
      this.#closeBox(box, chunk.subarray(at, end));
      return end;
    }
    if (isKept) this.#keep(chunk, at, end, box.bodyBytes);
    this.#bodyBytes += count;
    if (this.#bodyBytes === box.bodyBytes) this.#closeBox(box, this.#body?.subarray(0, box.bodyBytes));
    return end;
  }

  /** Copies a part of a body into a buffer that grows with the received bytes. */
  #keep(chunk: Buffer, from: number, to: number, bodyBytes: number): void {
    const wanted = this.#bodyBytes + to - from;
    if (this.#body === undefined || wanted > this.#body.length) {
      const room = Math.min(bodyBytes, Math.max(FIRST_BODY_BYTES, 2 * wanted));
      const larger = Buffer.allocUnsafeSlow(room);
      this.#body?.copy(larger, 0, 0, this.#bodyBytes);
      this.#body = larger;
    }
    chunk.copy(this.#body, this.#bodyBytes, from, to);
  }

  /** `body` is undefined for a skipped box. */
  #closeBox(box: OpenBox, body: Buffer | undefined): void {
    this.#box = undefined;
    this.#body = undefined;
    if (body === undefined) return;
    if (box.type === 'moov') this.#closeMovie(body);
    else if (box.type === 'moof') this.#closeFragment(box, body);
    else if (box.type === 'mdat') this.#handOut(box, body);
  }

  #closeMovie(body: Buffer): void {
    if (this.#defaults !== undefined) throw malformed('moov', 'occurs twice');
    // A copy: descriptions live as long as the broadcast and would retain the chunk.
    const { tracks, defaults } = readMovie(Buffer.from(body));
    this.#defaults = defaults;
    this.#trackIds = new Set(tracks.map(({ id }) => id));
    this.#handlers.onInit(tracks);
  }

  #closeFragment(box: OpenBox, body: Buffer): void {
    if (this.#defaults === undefined) throw malformed('moof', 'comes before "moov"');
    if (this.#announced.length > 0) throw malformed('moof', 'comes before the "mdat" of the one before');
    this.#announced = readMovieFragment(body, {
      defaults: this.#defaults,
      nextDts: this.#nextDts,
      position: box.position,
      maxDataBytes: this.#maxBoxBytes,
    });
  }

  #checkAnnounced(box: OpenBox): void {
    for (const { position, sizeBytes } of this.#announced) {
      if (position < box.bodyPosition || position + sizeBytes > box.bodyPosition + box.bodyBytes) {
        throw malformed('trun', 'data outside the "mdat" that follows');
      }
    }
  }

  #handOut(box: OpenBox, body: Buffer): void {
    const announced = this.#announced;
    this.#announced = [];
    for (const { position, sizeBytes, ...facts } of announced) {
      if (!this.#trackIds.has(facts.trackId)) continue;
      const from = position - box.bodyPosition;
      this.#handlers.onSample({ ...facts, data: ownedView(body.subarray(from, from + sizeBytes)) });
    }
  }
}

/** Returns `view` if it is a large part of the memory that it retains, else a copy. */
function ownedView(view: Buffer): Buffer {
  if (view.length * 4 >= view.buffer.byteLength) return view;
  const copy = Buffer.allocUnsafeSlow(view.length);
  view.copy(copy);
  return copy;
}
