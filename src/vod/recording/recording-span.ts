import { join } from 'node:path';
import { childBoxes } from '../../media/cmaf/box-reader.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { SIDX_RESERVED_BYTES, SidxWriter } from '../../media/cmaf/sidx-writer.ts';

/** Counted from 1. Renamed to `source` when the recording becomes a video. */
export function spanName(number: number): string {
  return `recording-${number}.mp4`;
}

export function spanNumber(name: string): number | undefined {
  const digits = /^recording-([1-9]\d{0,8})\.mp4$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const piecesSuffix = '.pieces';

/** A folder in the storage with what is written of a span, in files named by the position of their first byte. */
export function piecesFolder(spanPath: string): string {
  return spanPath + piecesSuffix;
}

/** The name of the span that a folder has pieces of, undefined for other folders. */
export function spanOfPieces(folderName: string): string | undefined {
  const name = folderName.endsWith(piecesSuffix) ? folderName.slice(0, -piecesSuffix.length) : '';
  return spanNumber(name) === undefined ? undefined : name;
}

export function pieceName(position: number): string {
  return String(position).padStart(15, '0');
}

export function spanNames(names: readonly string[]): string[] {
  const numbers = names.map(spanNumber).filter(number => number !== undefined);
  return numbers.toSorted((a, b) => a - b).map(spanName);
}

/**
 * One file of a recording, with constant tracks: init section, space for a table of keyframes, and fragments. An
 * edit list sets the start of fragments with the times of the broadcast to 0.
 */
export class RecordingSpan {
  readonly path: string;
  readonly tracks: readonly TrackDescription[];
  /** Decode times that are presented at 0, by track id. */
  readonly startTicks: ReadonlyMap<number, number>;
  readonly #init: Buffer;
  readonly #seekTable: SidxWriter;
  #bytes: number;
  #fragments = 0;
  #endSeconds = 0;
  #startSeconds = Number.POSITIVE_INFINITY;
  readonly #startedTracks = new Set<number>();

  constructor(
    folder: string,
    name: string,
    tracks: readonly TrackDescription[],
    startTicks: ReadonlyMap<number, number>,
  ) {
    this.path = join(folder, name);
    this.tracks = tracks;
    this.startTicks = startTicks;
    this.#init = writeInitSegment(tracks, startTicks);
    this.#seekTable = new SidxWriter(tracks.find(({ kind }) => kind === 'video') ?? tracks[0]!);
    this.#bytes = this.#init.length + SIDX_RESERVED_BYTES;
  }

  /** Built anew each time. */
  get head(): Buffer {
    return Buffer.concat([this.#init, SidxWriter.placeholder()]);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get fragments(): number {
    return this.#fragments;
  }

  get seconds(): number {
    return Math.max(0, this.#endSeconds - this.#startSeconds);
  }

  /** Tracks that have frames. */
  get startedTracks(): TrackDescription[] {
    return this.tracks.filter(({ id }) => this.#startedTracks.has(id));
  }

  hasTracks(tracks: readonly TrackDescription[]): boolean {
    return writeInitSegment(this.tracks).equals(writeInitSegment(tracks));
  }

  /** @param shifts from the samples' times to those of the file, in ticks by track */
  add(samples: readonly LocatedSample[], bytes: number, shifts?: ReadonlyMap<number, number>): void {
    this.#seekTable.add(this.#bytes, samples, shifts?.get(this.#seekTable.trackId));
    this.#bytes += bytes;
    this.#fragments += 1;
    for (const { id, timescale } of this.tracks) {
      const shift = shifts?.get(id) ?? 0;
      for (const { trackId, dtsTicks, durationTicks } of samples) {
        if (trackId !== id) continue;
        this.#startedTracks.add(id);
        this.#startSeconds = Math.min(this.#startSeconds, (dtsTicks + shift) / timescale);
        this.#endSeconds = Math.max(this.#endSeconds, (dtsTicks + shift + durationTicks) / timescale);
      }
    }
  }

  duration(): { bytes: Buffer; position: number } {
    const [ftyp] = childBoxes(this.#init, 0, this.#init.length, 'file');
    // Headers of `moov` and `mvhd`, version and flags, two times, and the timescale, which is 1000.
    const position = (ftyp?.end ?? 0) + 8 + 8 + 4 + 8 + 4;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(Math.min(Math.round(this.seconds * 1000), 0xffffffff));
    return { bytes, position };
  }

  seekTable(): { bytes: Buffer; position: number } | undefined {
    const position = this.#init.length;
    const bytes = this.#seekTable.toBytes(position, this.#bytes);
    return bytes && { bytes, position };
  }
}
