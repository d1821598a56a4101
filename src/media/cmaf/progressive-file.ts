import { AppError } from '../../shared/errors.ts';
import { readAudioConfig } from '../codecs/audio-config.ts';
import {
  type Box,
  childBoxes,
  FieldReader,
  findChildBox,
  malformed,
  printable,
  requireBox,
  requireChildBox,
} from './box-reader.ts';
import { type Edit, NO_EDIT, readEdit } from './edit-list.ts';
import { describeTrack, readTimescale, readTrackKind, type TrackDescription } from './movie-box.ts';
import { isoAudioEntry, isoVideoEntry } from './quicktime-entry.ts';
import { MAX_SAMPLE_ENTRY_BYTES, readChildBox, readSampleEntry } from './sample-entry.ts';
import { findSampleTables, type SampleTables } from './sample-tables.ts';

/** Reads fewer than `length` bytes only at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

export interface ProgressiveTrack {
  readonly index: number;
  readonly kind: 'video' | 'audio';
  readonly isEnabled: boolean;
  readonly timescale: number;
  /** Undefined when more than one part of the track is presented, or not at normal speed. */
  readonly edit: Edit | undefined;
  readonly samples: SampleTables;
  /** Defined when the samples can be copied into fragments: H.264 or AAC. */
  readonly description: TrackDescription | undefined;
  /** Explains a missing description, as part of a sentence. */
  readonly problem: string | undefined;
  /** H.264: size of the length field before each NAL unit. */
  readonly lengthBytes: number;
}

export interface ProgressiveMovie {
  readonly timescale: number;
  readonly tracks: readonly ProgressiveTrack[];
}

/** 24 hours at 60 fps with audio, at about 20 bytes per frame. */
const DEFAULT_MAX_MOVIE_BYTES = 128 * 1024 * 1024;
/** Top-level boxes; real files have about five. */
const MAX_TOP_BOXES = 1024;
const MAX_TRACKS = 1024;

/** Checks samples only while they are iterated. @throws AppError `media-malformed`, also for fragmented files */
export async function readProgressiveMovie(
  readAt: ReadAt,
  fileBytes: number,
  maxMovieBytes = DEFAULT_MAX_MOVIE_BYTES,
): Promise<ProgressiveMovie> {
  const { position, length } = await findMovie(readAt, fileBytes, maxMovieBytes);
  const body = await readAt(position, length);
  if (body.length < length) throw malformed('moov', 'is truncated');
  const boxes = childBoxes(body, 0, body.length, 'moov');
  if (boxes.some(({ type }) => type === 'mvex')) throw malformed('moov', 'announces fragments');
  if (boxes.some(({ type }) => type === 'cmov')) throw malformed('moov', 'is compressed');
  const timescale = readTimescale(body, requireBox(boxes, 'mvhd', 'moov'));
  const traks = boxes.filter(({ type }) => type === 'trak');
  if (traks.length > MAX_TRACKS) throw malformed('moov', `${traks.length} tracks are too many`);
  const tracks = traks.map((trak, index) => readTrack(body, trak, index));
  return { timescale, tracks: tracks.filter(track => track !== undefined) };
}

/** @throws AppError `media-malformed` when there is none before the first fragment */
export async function findMovie(
  readAt: ReadAt,
  fileBytes: number,
  maxMovieBytes: number,
): Promise<{ position: number; length: number }> {
  let position = 0;
  for (let boxes = 0; boxes < MAX_TOP_BOXES && position < fileBytes; boxes++) {
    const header = await readAt(position, 16);
    if (header.length < 8) break;
    const type = header.toString('latin1', 4, 8);
    let size = header.readUInt32BE(0);
    let headerBytes = 8;
    if (size === 1 && header.length === 16) {
      size = Number(header.readBigUInt64BE(8));
      headerBytes = 16;
    } else if (size === 0) {
      size = fileBytes - position;
    }
    if (size < headerBytes) throw malformed(type, `size ${size}`);
    if (type === 'moov') {
      if (size > fileBytes - position) throw malformed('moov', 'is truncated');
      if (size > maxMovieBytes) {
        throw malformed('moov', `has ${size} bytes, the maximum is ${maxMovieBytes}`);
      }
      return { position: position + headerBytes, length: size - headerBytes };
    }
    if (type === 'moof') throw malformed('moof', 'comes before "moov"');
    position += size;
  }
  throw malformed('file', 'has no "moov"');
}

function readTrack(body: Buffer, trak: Box, index: number): ProgressiveTrack | undefined {
  const mdia = requireChildBox(body, trak, 'mdia');
  const kind = readTrackKind(body, mdia);
  if (kind === undefined) return undefined;
  const tkhd = requireChildBox(body, trak, 'tkhd');
  const isEnabled = (new FieldReader(body, tkhd).u32() & 1) === 1;
  const timescale = readTimescale(body, requireChildBox(body, mdia, 'mdhd'));
  const minf = requireChildBox(body, mdia, 'minf');
  const stbl = requireChildBox(body, minf, 'stbl');
  const tables = childBoxes(body, stbl.bodyStart, stbl.end, 'stbl');
  const stsd = requireBox(tables, 'stsd', 'stbl');
  return {
    index,
    kind,
    isEnabled,
    timescale,
    edit: readTrackEdit(body, trak),
    samples: findSampleTables(body, tables),
    ...describe(body, minf, stsd, kind, timescale),
  };
}

function readTrackEdit(body: Buffer, trak: Box): Edit | undefined {
  const edts = findChildBox(body, trak, 'edts');
  const elst = edts === undefined ? undefined : findChildBox(body, edts, 'elst');
  return elst === undefined ? NO_EDIT : readEdit(body, elst);
}

type Described = Pick<ProgressiveTrack, 'description' | 'problem' | 'lengthBytes'>;

/** Every rendition is a file of one track. */
const TRACK_ID = 1;

function describe(body: Buffer, minf: Box, stsd: Box, kind: 'video' | 'audio', timescale: number): Described {
  const refused = (problem: string): Described => ({ description: undefined, problem, lengthBytes: 0 });
  try {
    const entries = childBoxes(body, stsd.bodyStart + 8, stsd.end, 'stsd');
    const [found] = entries;
    if (found === undefined || entries.length !== 1)
      return refused(`has ${entries.length} sample descriptions`);
    const type = found.type;
    if (kind === 'video' ? type !== 'avc1' : type !== 'mp4a') return refused(`is "${printable(type)}"`);
    if (!isSelfContained(body, minf, found)) return refused('refers to another file');

    const entryBytes = found.end - found.start;
    if (entryBytes > MAX_SAMPLE_ENTRY_BYTES)
      return refused(`has a sample description of ${entryBytes} bytes`);

    // A copy: descriptions outlive the rest of the box.
    const raw = Buffer.from(body.subarray(found.start, found.end));
    const bytes = kind === 'video' ? isoVideoEntry(raw) : isoAudioEntry(raw);
    const entry: Box = { type, start: 0, bodyStart: 8, end: bytes.length };
    const description = describeTrack(TRACK_ID, kind, timescale, bytes, entry);
    const fields = readSampleEntry(bytes, kind);
    if (kind === 'video') {
      const config = readChildBox(bytes, fields, 'avcC');
      config.skip(4);
      return { description, problem: undefined, lengthBytes: (config.u8() & 3) + 1 };
    }
    const { objectTypeIndication, audioObjectType } = readAudioConfig(bytes, fields);
    // 2 AAC-LC, 5 HE-AAC, 29 HE-AAC version 2.
    if (objectTypeIndication !== 0x40 || ![2, 5, 29].includes(audioObjectType ?? 0)) {
      return refused(`is ${description.codec}`);
    }
    return { description, problem: undefined, lengthBytes: 0 };
  } catch (error) {
    if (error instanceof AppError && error.code === 'media-malformed') {
      return refused(`has a broken sample description (${error.message})`);
    }
    throw error;
  }
}

/** The entry's data reference points to the file itself (ISO/IEC 14496-12:2022, 8.7.2). */
function isSelfContained(body: Buffer, minf: Box, entry: Box): boolean {
  const dinf = findChildBox(body, minf, 'dinf');
  if (dinf === undefined) return true;
  const dref = requireChildBox(body, dinf, 'dref');
  const references = childBoxes(body, dref.bodyStart + 8, dref.end, 'dref');
  const fields = new FieldReader(body, entry, 6);
  const reference = references[fields.u16() - 1];
  return reference !== undefined && (new FieldReader(body, reference).u32() & 1) === 1;
}
