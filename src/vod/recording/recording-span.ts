import { join } from 'node:path';
import { childBoxes } from '../../media/cmaf/box-reader.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { SIDX_RESERVED_BYTES, SidxWriter } from '../../media/cmaf/sidx-writer.ts';

/** Name of the file with the `number`th tracks of a recording, from 1; `source` once the recording is a video. */
export function spanName(number: number): string {
  return `recording-${number}.mp4`;
}

/** The number of a span's file; undefined for another name. */
export function spanNumber(name: string): number | undefined {
  const digits = /^recording-([1-9]\d{0,8})\.mp4$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Those of `names` that are of spans' files, in the order of the recording. */
export function spanNames(names: readonly string[]): string[] {
  const numbers = names.map(spanNumber).filter(number => number !== undefined);
  return numbers.toSorted((a, b) => a - b).map(spanName);
}

/**
 * What of a recording has the same tracks: one file, which begins with their init section and room for a table of its keyframes, and then is
 * one fragment after the other.
 */
export class RecordingSpan {
  readonly path: string;
  readonly tracks: readonly TrackDescription[];
  readonly #head: Buffer;
  readonly #seekTable: SidxWriter;
  #bytes: number;
  #fragments = 0;
  /** In seconds of the recording. */
  #endSeconds = 0;
  #startSeconds = Number.POSITIVE_INFINITY;

  constructor(folder: string, name: string, tracks: readonly TrackDescription[]) {
    this.path = join(folder, name);
    this.tracks = tracks;
    this.#head = Buffer.concat([writeInitSegment(tracks), SidxWriter.placeholder()]);
    this.#seekTable = new SidxWriter(tracks.find(({ kind }) => kind === 'video') ?? tracks[0]!);
    this.#bytes = this.#head.length;
  }

  /** What stands in front of the fragments. */
  get head(): Buffer {
    return this.#head;
  }

  /** Length of the head and of all whole fragments. */
  get bytes(): number {
    return this.#bytes;
  }

  get fragments(): number {
    return this.#fragments;
  }

  /** When its last frame ends, in seconds of the recording. */
  get endSeconds(): number {
    return this.#endSeconds;
  }

  /** Notes a fragment that is in the file; its samples, with their places in the file. */
  add(samples: readonly LocatedSample[], bytes: number): void {
    this.#seekTable.add(this.#bytes, samples);
    this.#bytes += bytes;
    this.#fragments += 1;
    for (const { trackId, dtsTicks, durationTicks } of samples) {
      const timescale = this.tracks.find(({ id }) => id === trackId)?.timescale ?? 1;
      this.#startSeconds = Math.min(this.#startSeconds, dtsTicks / timescale);
      this.#endSeconds = Math.max(this.#endSeconds, (dtsTicks + durationTicks) / timescale);
    }
  }

  /** How long it is, for the header of the movie, and where that goes. */
  duration(): { bytes: Buffer; position: number } {
    const [ftyp] = childBoxes(this.#head, 0, this.#head.length, 'file');
    // Headers of `moov` and `mvhd`, version and flags, two times, the timescale, which is 1000.
    const position = (ftyp?.end ?? 0) + 8 + 8 + 4 + 8 + 4;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(Math.min(Math.round((this.#endSeconds - this.#startSeconds) * 1000), 0xffffffff));
    return { bytes, position };
  }

  /** The table of its keyframes, and where it goes; undefined where there is none to be told of, or they are too far apart. */
  seekTable(): { bytes: Buffer; position: number } | undefined {
    const position = this.#head.length - SIDX_RESERVED_BYTES;
    const bytes = this.#seekTable.toBytes(position, this.#bytes);
    return bytes && { bytes, position };
  }
}
