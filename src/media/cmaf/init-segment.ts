import { childBoxes, malformed } from './box-reader.ts';
import { ascii, box, fullBox, u8, u16, u32 } from './box-writer.ts';
import { readMovie, type TrackDescription } from './movie-box.ts';
import { readChildBox, readSampleEntry } from './sample-entry.ts';
import { alternateGroup, extendedLanguage, languageCode, trackFlags, userData } from './track-label.ts';

/** Unused here, but may not be 0. */
const MOVIE_TIMESCALE = 1000;

/** ISO/IEC 14496-12:2022, 8.2.2. */
const UNITY_MATRIX = u32(0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000);

/** `hev1` with its parameter sets in the entry becomes `hvc1`. Buffers are views of `bytes`. */
export function parseInitSegment(bytes: Buffer): TrackDescription[] {
  const moov = childBoxes(bytes, 0, bytes.length, 'file').find(({ type }) => type === 'moov');
  if (moov === undefined) throw malformed('file', 'has no "moov"');
  return readMovie(bytes.subarray(moov.bodyStart, moov.end)).tracks;
}

/**
 * Writes an edit list only for `startTicks` (ISO/IEC 14496-12:2022, 8; ISO/IEC 23000-19:2024, 7).
 * @param tracks with different ids
 * @param startTicks media time that is presented first, by track id
 */
export function writeInitSegment(
  tracks: readonly TrackDescription[],
  startTicks?: ReadonlyMap<number, number>,
): Buffer {
  // A CMAF track file has exactly one track.
  const brands = tracks.length === 1 ? 'iso6cmfc' : 'iso6';
  // Uses all ones when no higher id is left, as the format requires.
  const nextTrackId = Math.min(Math.max(...tracks.map(({ id }) => id)) + 1, 0xffffffff);
  return Buffer.concat([
    box('ftyp', ascii('iso6'), u32(0), ascii(brands)),
    box(
      'moov',
      movieHeader(nextTrackId),
      ...tracks.map(track => trackBox(track, startTicks?.get(track.id))),
      movieExtends(tracks),
    ),
  ]);
}

function movieHeader(nextTrackId: number): Buffer {
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, MOVIE_TIMESCALE, 0), // created, modified, timescale, duration
    u32(0x00010000), // rate 1.0
    u16(0x0100, 0), // volume 1.0, reserved
    u32(0, 0), // reserved
    UNITY_MATRIX,
    u32(0, 0, 0, 0, 0, 0), // predefined
    u32(nextTrackId),
  );
}

function movieExtends(tracks: readonly TrackDescription[]): Buffer {
  // Track, sample description 1, then no default duration, size and flags: each fragment has its own.
  return box('mvex', ...tracks.map(({ id }) => fullBox('trex', 0, 0, u32(id, 1, 0, 0, 0))));
}

function trackBox(track: TrackDescription, startTicks: number | undefined): Buffer {
  const { label } = track;
  const language = label === undefined ? track.language : languageCode(label);
  return box(
    'trak',
    trackHeader(track),
    ...(startTicks === undefined ? [] : [editList(startTicks)]),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, track.timescale, 0), u16(packedLanguage(language), 0)),
      ...(label === undefined ? [] : extendedLanguage(label)),
      handler(track.kind),
      box(
        'minf',
        track.kind === 'video' ? fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)) : fullBox('smhd', 0, 0, u16(0, 0)),
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1))), // media in this very file
        box(
          'stbl',
          fullBox('stsd', 0, 0, u32(1), track.sampleEntry),
          fullBox('stts', 0, 0, u32(0)),
          fullBox('stsc', 0, 0, u32(0)),
          fullBox('stsz', 0, 0, u32(0, 0)),
          fullBox('stco', 0, 0, u32(0)),
        ),
      ),
    ),
    ...(label === undefined ? [] : userData(label)),
  );
}

/** One edit of all fragments (8.6.6): its duration is 0. */
function editList(startTicks: number): Buffer {
  const mediaTime = u32(Math.floor(startTicks / 2 ** 32), startTicks % 2 ** 32);
  return box('edts', fullBox('elst', 1, 0, u32(1), u32(0, 0), mediaTime, u16(1, 0)));
}

/** Packs an ISO 639-2 code, five bits per letter (ISO/IEC 14496-12:2022, 8.4.2). */
function packedLanguage(language = 'und'): number {
  const code = /^[a-z]{3}$/.test(language) ? language : 'und';
  return [...Buffer.from(code)].reduce((packed, letter) => (packed << 5) | (letter - 0x60), 0);
}

function trackHeader(track: TrackDescription): Buffer {
  const size = track.kind === 'video' ? displaySize(track) : { width: 0, height: 0 };
  return fullBox(
    'tkhd',
    0,
    trackFlags(track.label),
    u32(0, 0, track.id, 0, 0), // created, modified, id, reserved, duration
    u32(0, 0), // reserved
    // layer, alternate group, volume, reserved
    u16(0, alternateGroup(track.label), track.kind === 'audio' ? 0x0100 : 0, 0),
    UNITY_MATRIX,
    u32(fixedPoint(size.width), fixedPoint(size.height)),
  );
}

function handler(kind: 'video' | 'audio'): Buffer {
  const [type, name] = kind === 'video' ? ['vide', 'VideoHandler'] : ['soun', 'SoundHandler'];
  return fullBox('hdlr', 0, 0, u32(0), ascii(type), u32(0, 0, 0), ascii(name), u8(0));
}

/** Scales the width by the pixel aspect ratio of `pasp`. */
export function displaySize({ sampleEntry }: TrackDescription): { width: number; height: number } {
  const fields = readSampleEntry(sampleEntry, 'video');
  const { width = 0, height = 0 } = fields;
  if (!fields.boxes.some(({ type }) => type === 'pasp')) return { width, height };
  const pasp = readChildBox(sampleEntry, fields, 'pasp');
  const horizontal = pasp.u32();
  const vertical = pasp.u32();
  if (horizontal === 0 || vertical === 0) return { width, height };
  return { width: (width * horizontal) / vertical, height };
}

function fixedPoint(value: number): number {
  return Math.round(Math.min(value, 0xffff) * 0x10000);
}
