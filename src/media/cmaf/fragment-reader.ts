import { malformed } from './box-reader.ts';
import { readMovie, type SampleDefaults, type TrackDescription } from './movie-box.ts';
import { type LocatedSample, readMovieFragment } from './movie-fragment.ts';

export interface Sample {
  readonly trackId: number;
  readonly dtsTicks: number;
  readonly durationTicks: number;
  readonly compositionOffsetTicks: number;
  readonly isSync: boolean;
  /** Read-only: may be a view of a larger buffer. */
  readonly data: Buffer;
}

/** Called during `push`, in stream order. */
interface FragmentHandlers {
  onInit(tracks: TrackDescription[]): void;
  onSample(sample: Sample): void;
}

const DEFAULT_MAX_BOX_BYTES = 32 * 1024 * 1024;

const FIRST_BODY_BYTES = 256 * 1024;

interface OpenBox {
  readonly type: string;
  /** Positions in the stream. */
  readonly position: number;
  readonly bodyPosition: number;
  readonly bodyBytes: number;
}

/**
 * Parses chunks of any size. Skips boxes other than `moov`, `moof` and `mdat`, and tracks that are neither video nor
 * audio. The `mdat` after a `moof` must hold all its samples. ISO/IEC 14496-12:2022, 4.2 and 8.8.
 */
export class FragmentReader {
  readonly #handlers: FragmentHandlers;
  readonly #maxBoxBytes: number;
  #position = 0;
  /** 8 bytes, or 16 with a 64-bit size. */
  readonly #header = Buffer.alloc(16);
  #headerBytes = 0;
  #box: OpenBox | undefined;
  #bodyBytes = 0;
  #body: Buffer | undefined;
  #defaults: ReadonlyMap<number, SampleDefaults> | undefined;
  #trackIds: ReadonlySet<number> = new Set();
  readonly #nextDts = new Map<number, number>();
  #announced: LocatedSample[] = [];
  #failure: unknown;

  /** `maxBoxBytes` limits top-level boxes; 32 MiB by default. */
  constructor(handlers: FragmentHandlers, options: { maxBoxBytes?: number } = {}) {
    this.#handlers = handlers;
    this.#maxBoxBytes = options.maxBoxBytes ?? DEFAULT_MAX_BOX_BYTES;
  }

  /** May keep views of `chunk`. @throws AppError `media-malformed`; after an error, every push throws the same */
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
    for (const { position, sizeBytes, ...sample } of announced) {
      if (!this.#trackIds.has(sample.trackId)) continue;
      const from = position - box.bodyPosition;
      this.#handlers.onSample({ ...sample, data: ownedView(body.subarray(from, from + sizeBytes)) });
    }
  }
}

/** Copies unless the view is a large part of the memory that it retains. */
function ownedView(view: Buffer): Buffer {
  if (view.length * 4 >= view.buffer.byteLength) return view;
  const copy = Buffer.allocUnsafeSlow(view.length);
  view.copy(copy);
  return copy;
}
