import { readAudioConfig } from '../codecs/audio-config.ts';
import { codecStringOf } from '../codecs/codec-string.ts';
import { avcTransfer, hevcTransfer } from '../codecs/parameter-set.ts';
import { type Box, childBoxes, FieldReader, malformed, requireChildBox } from './box-reader.ts';
import {
  MAX_SAMPLE_ENTRY_BYTES,
  readChildBox,
  readHevcArrays,
  readSampleEntry,
  type SampleEntryFields,
} from './sample-entry.ts';
import type { TrackLabel } from './track-label.ts';

type VideoRange = 'SDR' | 'HLG' | 'PQ';

export interface TrackDescription {
  readonly id: number;
  readonly kind: 'video' | 'audio';
  readonly timescale: number;
  /** The whole box, including the decoder configuration. */
  readonly sampleEntry: Buffer;
  readonly codec: string;
  /** Coded size in pixels, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  readonly sampleRate?: number;
  /** MP3 declares 2 even when it is mono. */
  readonly channels?: number;
  /** Written when it is an ISO 639-2 code, never read. */
  readonly language?: string | undefined;
  readonly videoRange?: VideoRange;
  /** Label, in init sections only. */
  readonly label?: TrackLabel | undefined;
}

/** Values that fragments may omit. ISO/IEC 14496-12:2022, 8.8.3. */
export interface SampleDefaults {
  readonly durationTicks: number;
  readonly sizeBytes: number;
  readonly flags: number;
}

interface Movie {
  /** Video and audio, in file order. */
  readonly tracks: TrackDescription[];
  /** Defaults by track id, for tracks of any kind. */
  readonly defaults: ReadonlyMap<number, SampleDefaults>;
}

const NO_DEFAULTS: SampleDefaults = { durationTicks: 0, sizeBytes: 0, flags: 0 };

/** ISO/IEC 14496-12:2022, 8.2 to 8.5 and 8.8. The result contains views of `body`. */
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

function readTrack(bytes: Buffer, trak: Box): { id: number; track: TrackDescription | undefined } {
  const tkhd = readFullBox(bytes, requireChildBox(bytes, trak, 'tkhd'));
  tkhd.reader.skip(tkhd.version === 1 ? 16 : 8);
  const id = tkhd.reader.u32();

  const mdia = requireChildBox(bytes, trak, 'mdia');
  const kind = readTrackKind(bytes, mdia);
  if (kind === undefined) return { id, track: undefined };

  const timescale = readTimescale(bytes, requireChildBox(bytes, mdia, 'mdhd'));
  const stbl = requireChildBox(bytes, requireChildBox(bytes, mdia, 'minf'), 'stbl');
  const stsd = requireChildBox(bytes, stbl, 'stsd');
  const count = readFullBox(bytes, stsd).reader.u32();
  const entries = childBoxes(bytes, stsd.bodyStart + 8, stsd.end, 'stsd');
  const [entry] = entries;
  // A second entry would change the format mid-track, which one CODECS string cannot describe.
  if (entry === undefined || entries.length !== 1 || count !== 1) {
    throw malformed('stsd', 'needs one sample entry');
  }
  return { id, track: describeTrack(id, kind, timescale, bytes, entry) };
}

/** The result contains a view of `bytes`. */
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
  // The entry may declare 2 channels for mono (ISO/IEC 14496-12:2022, 12.2.3), so the decoder configuration takes precedence.
  const decoded = fields.type === 'mp4a' ? readAudioConfig(raw, fields).channels : undefined;
  return { ...track, sampleRate: fields.sampleRate || timescale, channels: decoded ?? fields.channels ?? 0 };
}

/** Converts complete entries, since Apple's players accept only `hvc1` (ISO/IEC 14496-15:2022, 8.4.1.1). */
function asHvc1(entry: Buffer, fields: SampleEntryFields): Buffer {
  const sets = readHevcArrays(entry, fields).filter(({ type }) => type >= 32 && type <= 34);
  if (![32, 33, 34].every(type => sets.some(set => set.type === type && set.units.length > 0))) return entry;
  const changed = Buffer.from(entry);
  changed.write('hvc1', 4, 'latin1');
  for (const { position, type } of sets) changed[position] = 0x80 | type;
  return changed;
}

/** Reads the H.273 code from `colr`, else from the first sequence parameter set. */
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

/** draft-pantos-hls-rfc8216bis-22, 4.4.6.2, VIDEO-RANGE. */
function videoRangeOf(transfer: number | undefined): VideoRange {
  return transfer === 18 ? 'HLG' : transfer === 16 ? 'PQ' : 'SDR';
}

/** Reads an `mvhd` or `mdhd`. @throws AppError `media-malformed` when it is 0 */
export function readTimescale(bytes: Buffer, box: Box): number {
  const { version, reader } = readFullBox(bytes, box);
  reader.skip(version === 1 ? 16 : 8);
  const timescale = reader.u32();
  if (timescale === 0) throw malformed(box.type, 'timescale 0');
  return timescale;
}

export function readTrackKind(bytes: Buffer, mdia: Box): 'video' | 'audio' | undefined {
  const { reader } = readFullBox(bytes, requireChildBox(bytes, mdia, 'hdlr'));
  reader.skip(4);
  const handler = reader.bytes(4).toString('latin1');
  return handler === 'vide' ? 'video' : handler === 'soun' ? 'audio' : undefined;
}

/** The reader starts after the flags. */
function readFullBox(bytes: Buffer, box: Box): { version: number; reader: FieldReader } {
  const reader = new FieldReader(bytes, box);
  const version = reader.u8();
  reader.skip(3);
  return { version, reader };
}
