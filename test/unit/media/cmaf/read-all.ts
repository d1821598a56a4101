import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FragmentReader, type Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';

/** A file of test/fixtures/cmaf, described in test/fixtures/README.md. */
export function fixture(name: string): Buffer {
  return readFileSync(fileURLToPath(new URL(`../../../fixtures/cmaf/${name}.mp4`, import.meta.url)));
}

/** The names of all of them. */
export const fixtureNames = [
  'h264-5',
  'h264-2018',
  'aac-5',
  'aac-2018',
  'h264-aac-5',
  'h264-aac-2018',
  'hevc-hlg-5',
  'hevc-hlg-2018',
  'mp3-5',
  'mp3-2018',
  'opus-5',
  'opus-2018',
  'av1-5',
  'flac-5',
  'h264-pq-pasp-5',
] as const;

/** Everything a stream holds, pushed in pieces of `chunkBytes`. */
export function readAll(
  stream: Buffer,
  pieceBytes = stream.length,
): { tracks: TrackDescription[]; samples: Sample[] } {
  const tracks: TrackDescription[] = [];
  const samples: Sample[] = [];
  const reader = new FragmentReader({
    onInit: found => void tracks.push(...found),
    onSample: sample => void samples.push(sample),
  });
  // Copies, so that a reader that holds on to a piece it should have copied is found out.
  for (let at = 0; at < stream.length; at += pieceBytes) {
    reader.push(Buffer.from(stream.subarray(at, at + pieceBytes)));
  }
  return { tracks, samples };
}

/** The `ftyp` and `moov` of a stream, and what follows. */
export function splitInit(stream: Buffer): { init: Buffer; rest: Buffer } {
  let at = 0;
  while (stream.toString('latin1', at + 4, at + 8) !== 'moov') at += stream.readUInt32BE(at);
  at += stream.readUInt32BE(at);
  return { init: stream.subarray(0, at), rest: stream.subarray(at) };
}

/** The body of the box at the end of `path`, such as `moov/trak/tkhd`; the first of each type. */
export function bodyOf(bytes: Buffer, path: string): Buffer {
  let inside = bytes;
  for (const type of path.split('/')) {
    let at = 0;
    while (inside.toString('latin1', at + 4, at + 8) !== type) {
      if (at >= inside.length) throw new Error(`no ${type} of ${path}`);
      at += inside.readUInt32BE(at);
    }
    inside = inside.subarray(at + 8, at + inside.readUInt32BE(at));
  }
  return inside;
}
