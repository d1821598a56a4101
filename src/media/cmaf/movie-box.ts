import { readAudioConfig } from '../codecs/audio-config.ts';
import { codecStringOf } from '../codecs/codec-string.ts';
import { avcTransfer, hevcTransfer } from '../codecs/parameter-set.ts';
import { type Box, childBoxes, FieldReader, malformed } from './box-reader.ts';
import {
  MAX_SAMPLE_ENTRY_BYTES,
  readChildBox,
  readHevcArrays,
  readSampleEntry,
  type SampleEntryFields,
} from './sample-entry.ts';

/** The dynamic range of the picture, in the words of VIDEO-RANGE. */
export type VideoRange = 'SDR' | 'HLG' | 'PQ';

/** What a player must know of one track before its first sample. */
export interface TrackDescription {
  /** track_ID, 1..2^32-1. */
  readonly id: number;
  readonly kind: 'video' | 'audio';
  /** Ticks a second. */
  readonly timescale: number;
  /** The whole sample entry box of the `stsd`, with the decoder configuration inside. */
  readonly sampleEntry: Buffer;
  /** RFC 6381 name, for CODECS. */
  readonly codec: string;
  /** Video: the coded picture in samples, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  /** Audio: samples a second. */
  readonly sampleRate?: number;
  /** Audio: 1 or more. MP3 says 2 even when it is mono. */
  readonly channels?: number;
  /** As the source names it; written where it is an ISO 639-2 code. Not read. */
  readonly language?: string | undefined;
  /** Video only. */
  readonly videoRange?: VideoRange;
}

/** Values for what a track's fragments leave out. **Source**: ISO/IEC 14496-12:2022, 8.8.3. */
export interface SampleDefaults {
  readonly durationTicks: number;
  readonly sizeBytes: number;
  readonly flags: number;
}

/** What a `moov` says. */
export interface Movie {
  /** The video and audio tracks in their order. */
  readonly tracks: TrackDescription[];
  /** By track id; tracks of other kinds are here too. */
  readonly defaults: ReadonlyMap<number, SampleDefaults>;
}

const NO_DEFAULTS: SampleDefaults = { durationTicks: 0, sizeBytes: 0, flags: 0 };

/**
 * Reads the body of a `moov` box. Views of `body` go into the result, so it must not be changed later.
 *
 * **Source**: ISO/IEC 14496-12:2022, 8.2 to 8.5 and 8.8.
 *
 * @throws AppError `media-malformed`
 */
export function readMovie(body: Buffer): Movie {
  const boxes = childBoxes(body, 0, body.length, 'moov');
  const defaults = new Map<number, SampleDefaults>();
  const tracks: TrackDescription[] = [];
  for (const trak of boxes.filter(box => box.type === 'trak')) {
    const { id, track } = readTrack(body, trak);
    if (id === 0 || defaults.has(id)) throw malformed('tkhd', `track id ${id} is 0 or taken`);
    defaults.set(id, NO_DEFAULTS);
    if (track !== undefined) tracks.push(track);
  }
  for (const mvex of boxes.filter(box => box.type === 'mvex')) {
    for (const trex of childBoxes(body, mvex.bodyStart, mvex.end, 'mvex')) {
      if (trex.type !== 'trex') continue;
      const fields = new FieldReader(body, trex, 4);
      const id = fields.u32();
      if (!defaults.has(id)) throw malformed('trex', `no track has the id ${id}`);
      fields.skip(4);
      defaults.set(id, { durationTicks: fields.u32(), sizeBytes: fields.u32(), flags: fields.u32() });
    }
  }
  if (tracks.length === 0) throw malformed('moov', 'no video or audio track');
  return { tracks, defaults };
}

/** `track` is undefined for a track that is neither video nor audio. */
function readTrack(bytes: Buffer, trak: Box): { id: number; track: TrackDescription | undefined } {
  const tkhd = readFullBox(bytes, requireChildBox(bytes, trak, 'tkhd'));
  tkhd.reader.skip(tkhd.version === 1 ? 16 : 8);
  const id = tkhd.reader.u32();

  const mdia = requireChildBox(bytes, trak, 'mdia');
  const hdlr = readFullBox(bytes, requireChildBox(bytes, mdia, 'hdlr'));
  hdlr.reader.skip(4);
  const handler = hdlr.reader.bytes(4).toString('latin1');
  if (handler !== 'vide' && handler !== 'soun') return { id, track: undefined };

  const mdhd = readFullBox(bytes, requireChildBox(bytes, mdia, 'mdhd'));
  mdhd.reader.skip(mdhd.version === 1 ? 16 : 8);
  const timescale = mdhd.reader.u32();
  if (timescale === 0) throw malformed('mdhd', 'timescale 0');

  const stbl = requireChildBox(bytes, requireChildBox(bytes, mdia, 'minf'), 'stbl');
  const stsd = requireChildBox(bytes, stbl, 'stsd');
  const count = readFullBox(bytes, stsd).reader.u32();
  const entries = childBoxes(bytes, stsd.bodyStart + 8, stsd.end, 'stsd');
  const [entry] = entries;
  // A second entry would be a change of format in the middle, which one CODECS string cannot say.
  if (entry === undefined || entries.length !== 1 || count !== 1) {
    throw malformed('stsd', 'needs one sample entry');
  }
  return { id, track: describeTrack(id, handler === 'vide' ? 'video' : 'audio', timescale, bytes, entry) };
}

/**
 * Describes a track by its one sample entry; a view of `bytes` goes into the result.
 *
 * @throws AppError `media-malformed`
 */
export function describeTrack(
  id: number,
  kind: 'video' | 'audio',
  timescale: number,
  bytes: Buffer,
  entry: Box,
): TrackDescription {
  const raw = bytes.subarray(entry.start, entry.end);
  if (raw.length > MAX_SAMPLE_ENTRY_BYTES) {
    throw malformed(entry.type, `has ${raw.length} bytes, the maximum is ${MAX_SAMPLE_ENTRY_BYTES}`);
  }
  const fields = readSampleEntry(raw, kind);
  const sampleEntry = fields.type === 'hev1' ? asHvc1(raw, fields) : raw;
  const track = { id, kind, timescale, sampleEntry, codec: codecStringOf(sampleEntry) };
  if (kind === 'video') {
    return {
      ...track,
      width: fields.width ?? 0,
      height: fields.height ?? 0,
      videoRange: videoRangeOf(transferOf(raw, fields)),
    };
  }
  // The entry says 2 for mono too (ISO/IEC 14496-12:2022, 12.2.3 lets it), so what the decoder is told goes first.
  const decoded = fields.type === 'mp4a' ? readAudioConfig(raw, fields).channels : undefined;
  return { ...track, sampleRate: fields.sampleRate || timescale, channels: decoded ?? fields.channels ?? 0 };
}

/**
 * An `hev1` entry as `hvc1`, the only form that Apple's players take, where it holds all parameter sets; else as it was.
 *
 * **Source**: ISO/IEC 14496-15:2022, 8.4.1.1: in `hvc1` the arrays of parameter sets are complete.
 */
function asHvc1(entry: Buffer, fields: SampleEntryFields): Buffer {
  const sets = readHevcArrays(entry, fields).filter(({ type }) => type >= 32 && type <= 34);
  if (![32, 33, 34].every(type => sets.some(set => set.type === type && set.units.length > 0))) return entry;
  const changed = Buffer.from(entry);
  changed.write('hvc1', 4, 'latin1');
  for (const { position, type } of sets) changed[position] = 0x80 | type;
  return changed;
}

/** Transfer characteristics (H.273 code) from `colr`, else from the first sequence parameter set. */
function transferOf(entry: Buffer, fields: SampleEntryFields): number | undefined {
  if (fields.boxes.some(box => box.type === 'colr')) {
    const colr = readChildBox(entry, fields, 'colr');
    if (['nclx', 'nclc'].includes(colr.bytes(4).toString('latin1'))) {
      colr.skip(2);
      return colr.u16();
    }
  }
  if (fields.type === 'avc1' || fields.type === 'avc3') {
    const config = readChildBox(entry, fields, 'avcC');
    config.skip(5);
    return (config.u8() & 0x1f) === 0 ? undefined : avcTransfer(config.bytes(config.u16()));
  }
  if (fields.type === 'hvc1' || fields.type === 'hev1') {
    const unit = readHevcArrays(entry, fields).find(({ type }) => type === 33)?.units[0];
    return unit === undefined ? undefined : hevcTransfer(unit);
  }
  return undefined;
}

/** **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.6.2, VIDEO-RANGE. */
function videoRangeOf(transfer: number | undefined): VideoRange {
  return transfer === 18 ? 'HLG' : transfer === 16 ? 'PQ' : 'SDR';
}

/**
 * The first box `type` inside `parent`.
 *
 * @throws AppError `media-malformed` when there is none
 */
export function requireChildBox(bytes: Buffer, parent: Box, type: string): Box {
  const found = childBoxes(bytes, parent.bodyStart, parent.end, parent.type).find(box => box.type === type);
  if (found === undefined) throw malformed(parent.type, `has no "${type}"`);
  return found;
}

/** The version of a full box, and a reader behind its flags. */
export function readFullBox(bytes: Buffer, box: Box): { version: number; reader: FieldReader } {
  const reader = new FieldReader(bytes, box);
  const version = reader.u8();
  reader.skip(3);
  return { version, reader };
}
