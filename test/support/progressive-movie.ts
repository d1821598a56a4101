import { ascii, box, fullBox, u8, u16, u32 } from '../../src/media/cmaf/box-writer.ts';

/** One sample of a made-up track. */
export interface MadeSample {
  readonly durationTicks: number;
  /** Presentation time less decode time. */
  readonly offsetTicks?: number;
  /** Named in `stss`. */
  readonly isSync?: boolean;
  /** First bytes; default: for video an IDR slice where it is sync, else another slice. */
  readonly data?: Buffer;
}

/** One made-up track. */
export interface MadeTrack {
  readonly kind: 'video' | 'audio';
  readonly timescale: number;
  readonly samples: readonly MadeSample[];
  /** `[duration in movie ticks, media time, rate]` each; no edit list without. */
  readonly edits?: readonly (readonly [number, number, number?])[];
  /** Samples a chunk; default 1. */
  readonly samplesPerChunk?: number;
  /** Leaves `stss` out: every sample is a sync sample. */
  readonly hasNoSyncTable?: boolean;
  readonly hasLongOffsets?: boolean;
  readonly entries?: readonly Buffer[];
  /** Number of each chunk's sample entry, from 1; default 1. */
  readonly entryOfChunk?: readonly number[];
  /** tkhd flag; default true. */
  readonly isEnabled?: boolean;
  /** Flags of the data reference; default 1: in this file. */
  readonly referenceFlags?: number;
}

/** A made-up file, and where each track's samples are in it. */
export interface MadeMovie {
  readonly bytes: Buffer;
  /** Data of every sample, by track. */
  readonly data: readonly (readonly Buffer[])[];
}

const avcC = box('avcC', u8(1, 0x64, 0, 0x0d, 0xff, 0xe0, 0));

/** Sample entry of H.264, 320x180. */
export function avcEntry(type = 'avc1', ...boxes: readonly Buffer[]): Buffer {
  return box(
    type,
    u8(0, 0, 0, 0, 0, 0),
    u16(1),
    Buffer.alloc(16),
    u16(320, 180),
    u32(0x00480000, 0x00480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    ...(boxes.length === 0 ? [avcC] : boxes),
  );
}

/** `esds` of AAC-LC, 48 kHz stereo, or of another object type indication. */
export function esdsBox(objectType = 0x40): Buffer {
  return fullBox(
    'esds',
    0,
    0,
    u8(3, 25, 0, 0, 0, 4, 17, objectType, 0x15),
    Buffer.alloc(11),
    u8(5, 2, 0x11, 0x90, 6, 1, 2),
  );
}

/** Sample entry of AAC. */
export function aacEntry(esds = esdsBox()): Buffer {
  return box('mp4a', u8(0, 0, 0, 0, 0, 0), u16(1), u32(0, 0), u16(2, 16, 0, 0), u32(48_000 * 0x10000), esds);
}

/** Sample entry of AAC as QuickTime writes it: version 1, with the `esds` inside of a `wave` box. */
export function quickTimeAudioEntry(): Buffer {
  return box(
    'mp4a',
    u8(0, 0, 0, 0, 0, 0),
    u16(1, 1, 0),
    u32(0),
    u16(2, 16, 0xfffe, 0),
    u32(48_000 * 0x10000, 1024, 0, 0, 2),
    box('wave', box('frma', Buffer.from('mp4a')), box('mp4a', u32(0)), esdsBox(), u32(8, 0)),
  );
}

/** Makes a progressive file. Samples of the tracks take turns, a chunk each. */
export function makeMovie(
  tracks: readonly MadeTrack[],
  options: { readonly isMovieLast?: boolean; readonly movieBoxes?: readonly Buffer[] } = {},
): MadeMovie {
  const data = tracks.map(({ kind, samples }, track) =>
    samples.map((sample, number) => sample.data ?? dataOf(kind, sample, track, number)),
  );
  const ftyp = box('ftyp', ascii('isom'), u32(0), ascii('isom'));
  // Positions have no influence on the length of the moov, so it is made twice.
  const placed = place(tracks, data, 0);
  const moovBytes = movieBox(tracks, data, placed.chunks, options.movieBoxes).length;
  const mdatBody = ftyp.length + 8 + (options.isMovieLast === true ? 0 : moovBytes);
  const { chunks, order } = place(tracks, data, mdatBody);
  const moov = movieBox(tracks, data, chunks, options.movieBoxes);
  const mdat = box('mdat', ...order);
  const parts = options.isMovieLast === true ? [ftyp, mdat, moov] : [ftyp, moov, mdat];
  return { bytes: Buffer.concat(parts), data };
}

/** Frames of a GOP after the other: the first of each is an IDR picture. */
export function gops(lengths: readonly number[], durationTicks: number): MadeSample[] {
  return lengths.flatMap(length =>
    Array.from({ length }, (_, index) => ({ durationTicks, isSync: index === 0 })),
  );
}

/** AAC frames. */
export function sounds(count: number): MadeSample[] {
  return Array.from({ length: count }, () => ({ durationTicks: 1024, isSync: true }));
}

/** A NAL unit with its length before it. */
export function unit(type: number, bytes = 12): Buffer {
  const body = Buffer.alloc(bytes, type);
  body[0] = 0x60 | type;
  return Buffer.concat([u32(bytes), body]);
}

function dataOf(kind: string, { isSync }: MadeSample, track: number, number: number): Buffer {
  const mark = u32(track, number);
  if (kind === 'audio') return mark;
  return Buffer.concat([u32(9), u8(isSync === true ? 0x65 : 0x41), mark]);
}

function place(tracks: readonly MadeTrack[], data: readonly (readonly Buffer[])[], start: number) {
  const chunks: number[][] = tracks.map(() => []);
  const order: Buffer[] = [];
  let position = start;
  const next = tracks.map(() => 0);
  while (next.some((number, track) => number < data[track]!.length)) {
    for (const [track, { samplesPerChunk = 1 }] of tracks.entries()) {
      if (next[track]! >= data[track]!.length) continue;
      chunks[track]!.push(position);
      for (const bytes of data[track]!.slice(next[track], next[track]! + samplesPerChunk)) {
        order.push(bytes);
        position += bytes.length;
      }
      next[track]! += samplesPerChunk;
    }
  }
  return { chunks, order };
}

function movieBox(
  tracks: readonly MadeTrack[],
  data: readonly (readonly Buffer[])[],
  chunks: readonly (readonly number[])[],
  more: readonly Buffer[] = [],
): Buffer {
  return box(
    'moov',
    fullBox('mvhd', 0, 0, u32(0, 0, 1000, 0), Buffer.alloc(80)),
    ...tracks.map((track, index) => trackBox(track, index + 1, data[index]!, chunks[index]!)),
    ...more,
  );
}

function trackBox(track: MadeTrack, id: number, data: readonly Buffer[], chunks: readonly number[]): Buffer {
  const { kind, timescale, samples, edits, samplesPerChunk = 1 } = track;
  const entries = track.entries ?? [kind === 'video' ? avcEntry() : aacEntry()];
  const syncs = samples.flatMap(({ isSync }, index) => (isSync === true ? [index + 1] : []));
  const rest = samples.length % samplesPerChunk;
  const runs = track.entryOfChunk?.flatMap((entry, chunk) => [chunk + 1, samplesPerChunk, entry]) ?? [
    ...(samples.length >= samplesPerChunk ? [1, samplesPerChunk, 1] : []),
    ...(rest === 0 ? [] : [chunks.length, rest, 1]),
  ];
  const longs = chunks.flatMap(position => [Math.floor(position / 2 ** 32), position % 2 ** 32]);
  const offsets = samples.flatMap(({ offsetTicks = 0 }) => [1, offsetTicks >>> 0]);
  return box(
    'trak',
    fullBox('tkhd', 0, track.isEnabled === false ? 0 : 3, u32(0, 0, id, 0, 0), Buffer.alloc(60)),
    ...(edits === undefined
      ? []
      : [
          box(
            'edts',
            fullBox(
              'elst',
              0,
              0,
              u32(edits.length),
              ...edits.map(([duration, time, rate = 0x10000]) => u32(duration, time >>> 0, rate)),
            ),
          ),
        ]),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, timescale, 0), u16(0x55c4, 0)),
      fullBox('hdlr', 0, 0, u32(0), ascii(kind === 'video' ? 'vide' : 'soun'), u32(0, 0, 0), u8(0)),
      box(
        'minf',
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, track.referenceFlags ?? 1))),
        box(
          'stbl',
          fullBox('stsd', 0, 0, u32(entries.length), ...entries),
          fullBox(
            'stts',
            0,
            0,
            u32(samples.length, ...samples.flatMap(({ durationTicks }) => [1, durationTicks])),
          ),
          ...(samples.some(({ offsetTicks = 0 }) => offsetTicks !== 0)
            ? [fullBox('ctts', 1, 0, u32(samples.length, ...offsets))]
            : []),
          fullBox('stsc', 0, 0, u32(runs.length / 3, ...runs)),
          fullBox('stsz', 0, 0, u32(0, samples.length, ...data.map(({ length }) => length))),
          track.hasLongOffsets === true
            ? fullBox('co64', 0, 0, u32(chunks.length, ...longs))
            : fullBox('stco', 0, 0, u32(chunks.length, ...chunks)),
          ...(track.hasNoSyncTable === true || kind === 'audio'
            ? []
            : [fullBox('stss', 0, 0, u32(syncs.length, ...syncs))]),
        ),
      ),
    ),
  );
}
