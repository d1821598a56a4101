import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import { timesOf } from '../../ffmpeg/probe/probe-output.ts';
import { type Box, childBoxes, FieldReader, requireChildBox } from '../../media/cmaf/box-reader.ts';
import { HeaderWalk } from '../../media/cmaf/header-walk.ts';
import {
  type ProgressiveMovie,
  type ProgressiveTrack,
  type ReadAt,
  readProgressiveMovie,
} from '../../media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../media/cmaf/sample-cursor.ts';
import { readChildBox, readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import type { SampleTables } from '../../media/cmaf/sample-tables.ts';
import { readAudioConfig } from '../../media/codecs/audio-config.ts';
import { readAudioSpecificConfig } from '../../media/codecs/audio-specific-config.ts';
import { BitReader } from '../../media/codecs/bit-reader.ts';
import {
  avcParameterSets,
  PICTURE_PARAMETER_SET,
  SEQUENCE_PARAMETER_SET,
} from '../../media/codecs/nal-units.ts';
import {
  avcParameterSetId,
  avcTraits,
  type Colour,
  withoutEmulationPrevention,
} from '../../media/codecs/parameter-set.ts';
import { readSeiMessages } from '../../media/codecs/sei-messages.ts';
import { AppError } from '../../shared/errors.ts';

/** Name that ffprobe gives. */
const format = 'mov,mp4,m4a,3gp,3g2,mj2';
/** ffmpeg reads files of QuickTime, and those that say nothing, by other rules. */
const brands = ['isom', 'iso2', 'iso4', 'iso5', 'iso6', 'mp41', 'mp42', 'avc1', 'M4V '];
const fileBoxes = ['ftyp', 'free', 'skip', 'mdat', 'moov'];
const movieBoxes = ['mvhd', 'trak', 'udta', 'iods', 'free'];
const trackBoxes = ['tkhd', 'edts', 'mdia'];
const mediaBoxes = ['mdhd', 'hdlr', 'minf'];
const informationBoxes = ['vmhd', 'smhd', 'hdlr', 'dinf', 'stbl'];
const tableBoxes = ['stsd', 'stts', 'ctts', 'stss', 'stsc', 'stsz', 'stco', 'co64', 'sgpd', 'sbgp', 'sdtp'];
const videoEntryBoxes = ['avcC', 'btrt', 'pasp', 'colr'];
const audioEntryBoxes = ['esds', 'btrt'];
const maxMovieBytes = 16 * 1024 ** 2;
const maxMetadataBytes = 64 * 1024;
const maxTimescale = 1_000_000;
/** ffprobe decodes fewer. */
const examinedFrames = 64;
/** Covers the units before the first slice. */
const frameStartBytes = 4096;
const maxUnits = 32;
const editBytes = 12;
const lengthBytes = 4;
const aacFrameSamples = 1024;
const examinedAudioFrames = 8;
/** Single channels, pairs of them, and those without audio. */
const aacElements = { single: 0, pair: 1, others: [4, 6] };
const sliceHeaderBytes = 32;
/** Lower ones may hide spectral band replication, which only its frames tell. */
const aacRates = [32_000, 44_100, 48_000];
/** profile_idc. */
const profiles: Readonly<Record<number, string>> = { 66: 'Baseline', 77: 'Main', 100: 'High' };
/** ITU-T H.264 (08/2021), table 7-1. */
const unitTypes = { slice: 1, idrSlice: 5, sei: 6, delimiter: 9 };
/** Buffering period, picture timing, unregistered user data, recovery point: no captions, and nothing about colours. */
const plainMessages = [0, 1, 5, 6];
/** ITU-T H.273, of values that are the same for all three. */
const colourNames: Readonly<Record<number, string>> = { 1: 'bt709', 6: 'smpte170m' };

/**
 * Describes a plain MP4 as ffprobe does, which takes a process and ten times as long: one H.264 track of progressive frames, and at most
 * one AAC track. Undefined for every file of which it is not sure that ffprobe tells the same.
 */
export async function describePlainSource(
  readAt: ReadAt,
  fileBytes: number,
): Promise<ProbedFile | undefined> {
  try {
    return await describe(readAt, fileBytes);
  } catch (error) {
    if (error instanceof AppError && error.code === 'media-malformed') return undefined;
    throw error;
  }
}

async function describe(readAt: ReadAt, fileBytes: number): Promise<ProbedFile | undefined> {
  const found = await new HeaderWalk(readAt).boxes(0, fileBytes);
  const moov = found.find(({ type }) => type === 'moov');
  const brand = (await readAt(8, 4)).toString('latin1');
  const mdat = found.find(({ type }) => type === 'mdat');
  const isPlainFile =
    found[0]?.type === 'ftyp' &&
    brands.includes(brand) &&
    hasOnly(found, fileBoxes) &&
    found.at(-1)?.end === fileBytes;
  if (!isPlainFile || mdat === undefined || moov === undefined || moov.end - moov.start > maxMovieBytes)
    return undefined;
  const body = await readAt(moov.start, moov.end - moov.start);
  const movieChildren = childBoxes(body, 0, body.length, 'moov');
  if (
    !areSized(body, movieChildren) ||
    !hasOnly(movieChildren, movieBoxes) ||
    !movieChildren.every(child => isPlainMovieBox(body, child))
  ) {
    return undefined;
  }
  const movie = await readProgressiveMovie(readAt, fileBytes, maxMovieBytes);
  const traks = movieChildren.filter(({ type }) => type === 'trak');
  const kinds = movie.tracks
    .map(({ kind }) => kind)
    .toSorted()
    .join();
  if (traks.length !== movie.tracks.length || !['video', 'audio,video'].includes(kinds)) return undefined;
  const streams: ProbedStream[] = [];
  for (const [index, trak] of traks.entries()) {
    const header = readPlainHeader(body, trak);
    const track = movie.tracks[index]!;
    const stream =
      header &&
      (track.kind === 'video'
        ? await describeVideo({ movie, track, header, mdat, readAt, fileBytes })
        : await describeAudio({ movie, track, header, mdat, readAt, fileBytes }));
    if (stream === undefined) return undefined;
    streams.push(stream);
  }
  return {
    format,
    containerStartSeconds: 0,
    ...timesOf(streams, undefined, 0, fileBytes),
    bytes: fileBytes,
    streams,
  };
}

/** Names of boxes that may be repeated. */
const repeated = ['trak', 'free', 'skip'];

/** Boxes that state their size, in 32 bits. */
function areSized(body: Buffer, boxes: readonly Box[]): boolean {
  return boxes.every(({ start, end }) => body.readUInt32BE(start) === end - start);
}

function hasOnly(boxes: readonly { readonly type: string }[], types: readonly string[]): boolean {
  const single = boxes.filter(({ type }) => !repeated.includes(type));
  const isUnique = new Set(single.map(({ type }) => type)).size === single.length;
  return isUnique && boxes.every(({ type }) => types.includes(type));
}

function isPlainMovieBox(body: Buffer, { type, bodyStart, end }: Box): boolean {
  // Covers become streams.
  if (type === 'udta')
    return end - bodyStart <= maxMetadataBytes && !body.subarray(bodyStart, end).includes('covr');
  if (type !== 'mvhd') return true;
  return body[bodyStart] === 0 && isUpright(body, bodyStart + 36);
}

/** ISO/IEC 14496-12:2022, 6.2.2. */
const uprightMatrix = Buffer.from(
  '000100000000000000000000000000000001000000000000000000000000000040000000',
  'hex',
);

function isUpright(body: Buffer, at: number): boolean {
  return body.subarray(at, at + uprightMatrix.length).equals(uprightMatrix);
}

interface PlainHeader {
  readonly width: number;
  readonly height: number;
  readonly durationTicks: number;
  readonly language: string | undefined;
}

function readPlainHeader(body: Buffer, trak: Box): PlainHeader | undefined {
  const children = (box: Box) => childBoxes(body, box.bodyStart, box.end, box.type);
  const areOnly = (parent: Box, types: readonly string[]) =>
    areSized(body, children(parent)) && hasOnly(children(parent), types);
  const mdia = requireChildBox(body, trak, 'mdia');
  const minf = requireChildBox(body, mdia, 'minf');
  const stbl = requireChildBox(body, minf, 'stbl');
  const dinf = requireChildBox(body, minf, 'dinf');
  const isPlain =
    areOnly(trak, trackBoxes) &&
    areOnly(mdia, mediaBoxes) &&
    areOnly(minf, informationBoxes) &&
    areOnly(stbl, tableBoxes) &&
    hasOneEntry(body, requireChildBox(body, stbl, 'stsd')) &&
    areOnly(dinf, ['dref']) &&
    hasOneEntry(body, requireChildBox(body, dinf, 'dref')) &&
    children(trak).every(child => child.type !== 'edts' || isPlainEdit(body, child));
  if (!isPlain) return undefined;
  const tkhd = requireChildBox(body, trak, 'tkhd');
  const head = new FieldReader(body, tkhd);
  const version = head.u8();
  const isEnabled = (head.u24() & 1) === 1;
  head.skip(36);
  const isTurned = !isUpright(body, head.position);
  head.skip(uprightMatrix.length);
  const width = head.u32() / 0x10000;
  const height = head.u32() / 0x10000;
  const media = new FieldReader(body, requireChildBox(body, mdia, 'mdhd'));
  const mediaVersion = media.u8();
  media.skip(15);
  const durationTicks = media.u32();
  const code = media.u16();
  const letters = [code >> 10, code >> 5, code].map(letter => 0x60 + (letter & 0x1f));
  if (version !== 0 || mediaVersion !== 0 || !isEnabled || isTurned) return undefined;
  if (code >> 15 !== 0 || letters.some(letter => letter < 0x61 || letter > 0x7a)) return undefined;
  const language = String.fromCharCode(...letters);
  return { width, height, durationTicks, language: language === 'und' ? undefined : language };
}

/** The number of entries of an `stsd` or `dref`. */
function hasOneEntry(body: Buffer, box: Box): boolean {
  const entries = childBoxes(body, box.bodyStart + 8, box.end, box.type);
  return new FieldReader(body, box, 4).u32() === 1 && entries.length === 1 && areSized(body, entries);
}

/** One edit, and nothing behind it. */
function isPlainEdit(body: Buffer, edts: Box): boolean {
  const boxes = childBoxes(body, edts.bodyStart, edts.end, 'edts');
  const [elst] = boxes;
  if (elst?.type !== 'elst' || boxes.length !== 1 || !areSized(body, boxes)) return false;
  const fields = new FieldReader(body, elst);
  const version = fields.u32() >>> 24;
  return version === 0 && fields.u32() === 1 && fields.remaining === editBytes;
}

interface Described {
  readonly mdat: { readonly start: number; readonly end: number };
  readonly movie: ProgressiveMovie;
  readonly track: ProgressiveTrack;
  readonly header: PlainHeader;
  readonly readAt: ReadAt;
  readonly fileBytes: number;
}

interface PlainSamples {
  readonly count: number;
  readonly bytes: number;
  readonly firstPtsTicks: number;
  readonly isFirstSync: boolean;
  readonly durationSeconds: number;
}

/** Undefined when something about the samples is unusual. */
function readPlainSamples({ movie, track, header, mdat, fileBytes }: Described): PlainSamples | undefined {
  const { samples, edit, timescale } = track;
  const cursor = new SampleCursor(samples, fileBytes);
  if (edit === undefined || edit.emptyTicks > 0 || Math.max(timescale, movie.timescale) > maxTimescale) {
    return undefined;
  }
  if (samplesOfChunks(samples) !== samples.sampleCount || !cursor.next()) return undefined;
  const firstPtsTicks = cursor.ptsTicks;
  const isFirstSync = cursor.isSync;
  let bytes = 0;
  do {
    bytes += cursor.sizeBytes;
    if (cursor.position < mdat.start || cursor.position + cursor.sizeBytes > mdat.end) return undefined;
    if (cursor.ptsTicks < firstPtsTicks || cursor.compositionOffsetTicks < 0 || cursor.durationTicks === 0) {
      return undefined;
    }
  } while (cursor.next());
  const endTicks = cursor.dtsTicks + cursor.durationTicks;
  if (endTicks !== header.durationTicks) return undefined;
  const presentedTicks =
    edit.durationTicks === undefined
      ? endTicks
      : Math.round((edit.durationTicks * timescale) / movie.timescale);
  const durationSeconds = Math.min(endTicks, presentedTicks) / timescale;
  return { count: samples.sampleCount, bytes, firstPtsTicks, isFirstSync, durationSeconds };
}

function samplesOfChunks({ bytes, chunkRuns, chunks }: SampleTables): number {
  let samples = 0;
  for (let run = 0; run < chunkRuns.count; run += 1) {
    const at = chunkRuns.at + 12 * run;
    const next = run + 1 < chunkRuns.count ? bytes.readUInt32BE(at + 12) : chunks.count + 1;
    samples += bytes.readUInt32BE(at + 4) * (next - bytes.readUInt32BE(at));
  }
  return samples;
}

async function describeVideo(described: Described): Promise<ProbedStream | undefined> {
  const { track, header } = described;
  const { description, edit, timescale, index } = track;
  if (description === undefined || track.lengthBytes !== lengthBytes) return undefined;
  const entry = readSampleEntry(description.sampleEntry, 'video');
  const config = readChildBox(description.sampleEntry, entry, 'avcC');
  const units = avcParameterSets(config.bytes(config.remaining))?.units ?? [];
  const [sequence, frameSet] = units;
  const isOnePair =
    units.length === 2 &&
    typeOf(sequence!) === SEQUENCE_PARAMETER_SET &&
    typeOf(frameSet!) === PICTURE_PARAMETER_SET;
  const traits = isOnePair ? avcTraits(sequence!) : undefined;
  if (traits === undefined || !hasOnly(entry.boxes, videoEntryBoxes)) return undefined;
  const { size, colour } = traits;
  const profile = profiles[traits.profile];
  const isPlain =
    profile !== undefined &&
    traits.isUsualSampleFormat &&
    traits.isFrameOnly &&
    !traits.isFullRange &&
    !traits.hasPictureStructure &&
    [entry, header].every(one => one.width === size.width && one.height === size.height) &&
    isSquare(traits.pixelAspect) &&
    (colour === undefined || isNamed(colour)) &&
    hasPlainBoxes(description.sampleEntry, entry.boxes, colour);
  if (!isPlain) return undefined;
  const samples = readPlainSamples(described);
  if (samples === undefined || !samples.isFirstSync) return undefined;
  if (samples.firstPtsTicks !== edit!.mediaTimeTicks) return undefined;
  if (!(await haveOnlyPlainUnits(described, units))) return undefined;
  return {
    index,
    kind: 'video',
    codec: 'h264',
    profile: traits.profile === 66 && traits.isConstrained ? 'Constrained Baseline' : profile,
    ...size,
    rotation: 0,
    pixelAspect: 1,
    pixelFormat: 'yuv420p',
    ...(colour === undefined ? {} : colourOf(colour)),
    fieldOrder: 'progressive',
    averageFrameRate: (samples.count * timescale) / header.durationTicks,
    ...commonOf(described, samples),
  };
}

async function describeAudio(described: Described): Promise<ProbedStream | undefined> {
  const { track } = described;
  const { description, edit, timescale, index } = track;
  if (description === undefined) return undefined;
  const entry = readSampleEntry(description.sampleEntry, 'audio');
  const { objectTypeIndication, audioSpecificConfig } = readAudioConfig(description.sampleEntry, entry);
  if (audioSpecificConfig === undefined || !hasOnly(entry.boxes, audioEntryBoxes)) return undefined;
  const { objectType, sampleRate, channels, samplesPerFrame } = readAudioSpecificConfig(audioSpecificConfig);
  const isPlain =
    objectTypeIndication === 0x40 &&
    objectType === 2 &&
    samplesPerFrame === aacFrameSamples &&
    sampleRate === timescale &&
    aacRates.includes(sampleRate) &&
    (channels === 1 || channels === 2);
  const samples = isPlain ? readPlainSamples(described) : undefined;
  // Cuts no more than the priming of the encoder.
  if (samples?.firstPtsTicks !== 0 || ![0, aacFrameSamples].includes(edit!.mediaTimeTicks)) return undefined;
  if (!(await haveOnlyElements(described, channels === 1 ? aacElements.single : aacElements.pair))) {
    return undefined;
  }
  return {
    index,
    kind: 'audio',
    codec: 'aac',
    profile: 'LC',
    sampleRate,
    channels,
    ...commonOf(described, samples),
  };
}

function commonOf({ track, header }: Described, { bytes, durationSeconds }: PlainSamples) {
  const { language } = header;
  return {
    bitsPerSecond: Math.floor((bytes * 8 * track.timescale) / header.durationTicks),
    durationSeconds: Math.round(durationSeconds * 1e6) / 1e6,
    startSeconds: 0,
    isDefault: true,
    isCoverImage: false,
    ...(language === undefined ? {} : { language }),
  };
}

function isSquare(pixelAspect: readonly [number, number] | undefined): boolean {
  return pixelAspect === undefined || pixelAspect[0] === pixelAspect[1];
}

function isNamed(colour: Colour): boolean {
  return [colour.primaries, colour.transfer, colour.matrix].every(code => colourNames[code] !== undefined);
}

function colourOf({ primaries, transfer, matrix }: Colour) {
  return {
    colorTransfer: colourNames[transfer]!,
    colorPrimaries: colourNames[primaries]!,
    colorSpace: colourNames[matrix]!,
  };
}

/** The boxes say the same as the frames, or nothing. */
function hasPlainBoxes(entry: Buffer, boxes: readonly Box[], colour: Colour | undefined): boolean {
  return boxes.every(box => {
    const fields = new FieldReader(entry, box);
    if (box.type === 'pasp') return isSquare([fields.u32(), fields.u32()]);
    if (box.type !== 'colr') return true;
    if (colour === undefined || fields.bytes(4).toString('latin1') !== 'nclx') return false;
    const codes = [fields.u16(), fields.u16(), fields.u16()];
    return codes.join() === [colour.primaries, colour.transfer, colour.matrix].join() && fields.u8() === 0;
  });
}

/** The first frame is an IDR picture, and what precedes slices is nothing that ffprobe would tell about. */
async function haveOnlyPlainUnits(described: Described, parameterSets: readonly Buffer[]): Promise<boolean> {
  const [sequence, frameSet] = parameterSets;
  const { frameSetId, sequenceSetId } = frameParameterSetIds(frameSet!);
  if (sequenceSetId !== avcParameterSetId(sequence!)) return false;
  const frames = await readFrameStarts(described, examinedFrames, frameStartBytes);
  return frames.every(({ start, sizeBytes }, index) => {
    const slice = firstSlice(start, sizeBytes, parameterSets);
    if (slice === undefined) return false;
    return (index > 0 || typeOf(slice) === unitTypes.idrSlice) && frameParameterSetIdOf(slice) === frameSetId;
  });
}

async function readFrameStarts({ track, readAt, fileBytes }: Described, maxFrames: number, maxBytes: number) {
  const cursor = new SampleCursor(track.samples, fileBytes);
  const reads: Promise<{ readonly start: Buffer; readonly sizeBytes: number }>[] = [];
  while (reads.length < maxFrames && cursor.next()) {
    const { position, sizeBytes } = cursor;
    reads.push(readAt(position, Math.min(sizeBytes, maxBytes)).then(start => ({ start, sizeBytes })));
  }
  return Promise.all(reads);
}

/** ITU-T H.264 (08/2021), 7.3.2.2. */
function frameParameterSetIds(unit: Buffer) {
  const bits = new BitReader(unit.subarray(1));
  return { frameSetId: bits.expGolomb(), sequenceSetId: bits.expGolomb() };
}

/** ITU-T H.264 (08/2021), 7.3.3: behind first_mb_in_slice and slice_type. */
function frameParameterSetIdOf(slice: Buffer): number {
  const bits = new BitReader(withoutEmulationPrevention(slice.subarray(1, sliceHeaderBytes)));
  bits.expGolomb();
  bits.expGolomb();
  return bits.expGolomb();
}

/** Frames of the decoder configuration's channels: some begin with an element of another kind. ISO/IEC 14496-3:2019, 4.4.2.1. */
async function haveOnlyElements(described: Described, expected: number): Promise<boolean> {
  const frames = await readFrameStarts(described, examinedAudioFrames, 1);
  const elements = frames.map(({ start }) => (start[0] ?? 0) >> 5);
  return (
    elements.includes(expected) &&
    elements.every(element => element === expected || aacElements.others.includes(element))
  );
}

/** Undefined where the units before it are unusual, or too long. */
function firstSlice(
  start: Buffer,
  sampleBytes: number,
  parameterSets: readonly Buffer[],
): Buffer | undefined {
  let at = 0;
  for (let count = 0; count < maxUnits && at + lengthBytes < start.length; count += 1) {
    const from = at + lengthBytes;
    const end = from + start.readUInt32BE(at);
    const type = start[from]! & 0x1f;
    if (end > sampleBytes || end === from) return undefined;
    if (type === unitTypes.slice || type === unitTypes.idrSlice) return start.subarray(from, end);
    if (end > start.length || !isPlainUnit(start.subarray(from, end), parameterSets)) return undefined;
    at = end;
  }
  return undefined;
}

function isPlainUnit(unit: Buffer, parameterSets: readonly Buffer[]): boolean {
  const type = typeOf(unit);
  if (type === unitTypes.delimiter) return true;
  if (type === unitTypes.sei)
    return [...readSeiMessages(unit.subarray(1))].every(({ payloadType }) =>
      plainMessages.includes(payloadType),
    );
  return (
    (type === SEQUENCE_PARAMETER_SET || type === PICTURE_PARAMETER_SET) &&
    parameterSets.some(one => one.equals(unit))
  );
}

function typeOf(unit: Buffer): number {
  return unit[0]! & 0x1f;
}
