import { resolve } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { ProbedFile, ProbedStream } from '../media-tools.ts';

/** Demuxers for uploads. None opens another file or URL, as playlists and image sequences do. */
export const allowedFormats: readonly string[] = [
  ...[
    'mov',
    'mp4',
    'm4a',
    '3gp',
    '3g2',
    'mj2',
    'matroska',
    'webm',
    'avi',
    'flv',
    'mpegts',
    'mpeg',
    'asf',
    'mxf',
  ],
  ...[
    'ogg',
    'gxf',
    'wtv',
    'rm',
    'nut',
    'dv',
    'ivf',
    'gif',
    'h264',
    'hevc',
    'mpegvideo',
    'm4v',
    'vc1',
    'av1',
    'obu',
  ],
  ...['mp3', 'aac', 'ac3', 'eac3', 'flac', 'wav', 'w64', 'aiff', 'caf', 'amr', 'au'],
];

const entries = [
  'format=format_name,start_time,duration',
  'stream=index,codec_type,codec_name,profile,width,height,sample_aspect_ratio,pix_fmt,color_transfer,color_primaries',
  'color_space,field_order,has_b_frames,avg_frame_rate,r_frame_rate,sample_rate,channels,bit_rate,duration,start_time,nb_frames,closed_captions',
];

const dispositions = 'default,attached_pic,forced,hearing_impaired,visual_impaired,comment';

/** Streams without timestamps: their clock is only a statement about the frame rate. */
export const rawFormats: readonly string[] = ['h264', 'hevc', 'mpegvideo', 'm4v', 'vc1', 'obu'];
/** Frame rate that ffmpeg assumes for raw streams that state none. */
export const usualRawFrameRate = 25;

/** B-frames delay the start of a file by less. */
const maxReorderSeconds = 1;

/**
 * Formats without headers are analyzed until each stream is known: a picture can stand still for minutes, and audio of a transport stream
 * can begin seconds before the video.
 */
export const analysis = ['-analyzeduration', '600000000', '-probesize', '33554432'];

export const imageFormats: readonly string[] = ['png_pipe', 'jpeg_pipe', 'image2'];

export function probeArguments(path: string, formats: readonly string[] = allowedFormats): string[] {
  return [
    ...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', formats.join(',')],
    ...[...analysis, '-of', 'json', '-show_entries'],
    `${entries[0]}:${entries[1]},${entries[2]}:stream_tags=language,rotate,title:stream_disposition=${dispositions}:stream_side_data=rotation,displaymatrix`,
    // Names the file as a URL, so that no name is parsed as an option or another protocol.
    `file:${resolve(path)}`,
  ];
}

/** Prints a line for the first packet of a stream, without decoding it: `packet,stream,duration`. */
export function firstPacketArguments(path: string, index: number): string[] {
  return [
    ...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', allowedFormats.join(',')],
    ...['-of', 'csv', '-select_streams', String(index), '-show_entries', 'packet=stream_index,duration_time'],
    ...['-read_intervals', '%+#1', `file:${resolve(path)}`],
  ];
}

/** Prints `stream,pts,dts` of all packets. */
export function packetTimesArguments(path: string): string[] {
  return [
    ...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', allowedFormats.join(',')],
    ...['-of', 'csv=p=0', '-show_entries', 'packet=stream_index,pts_time,dts_time', `file:${resolve(path)}`],
  ];
}

type JsonObject = Readonly<Record<string, unknown>>;

/** @throws AppError `media-refused` without a stream; `process-failed` for malformed output */
export function readProbeOutput(text: string, bytes: number): ProbedFile {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new AppError('process-failed', 'ffprobe did not answer in JSON', { cause: error });
  }
  const { format, streams } = objectFrom(answer);
  const about = objectFrom(format);
  const name = textFrom(about.format_name);
  if (name === undefined) throw new AppError('process-failed', 'ffprobe did not name the format of the file');
  const found = (Array.isArray(streams) ? streams : []).map(stream => streamFrom(objectFrom(stream), name));
  if (found.length === 0) throw mediaRefused('The file has neither video nor audio.');
  return withDefined({
    format: name,
    containerStartSeconds: numberFrom(about.start_time),
    ...timesOf(found, numberFrom(about.duration), numberFrom(about.start_time), bytes),
    bytes,
    streams: found,
  });
}

export function mediaRefused(sentence: string, data?: JsonObject): AppError {
  return new AppError('media-refused', sentence, {
    details: { detail: sentence, data },
  });
}

/** Uses the streams, because versions of ffprobe differ in the duration of the file. */
export function timesOf(
  streams: readonly ProbedStream[],
  duration: number | undefined,
  start: number | undefined,
  bytes: number,
): Pick<ProbedFile, 'durationSeconds' | 'startSeconds' | 'bitsPerSecond'> {
  const played = streams.filter(
    ({ kind, isCoverImage }) => (kind === 'video' || kind === 'audio') && !isCoverImage,
  );
  const starts = played.flatMap(stream => stream.startSeconds ?? []);
  const ends = played.flatMap(({ startSeconds, durationSeconds }) =>
    durationSeconds === undefined ? [] : (startSeconds ?? 0) + durationSeconds,
  );
  const startSeconds = starts.length === 0 ? start : Math.min(...starts);
  const isKnown = ends.length > 0 && ends.length === played.length;
  const durationSeconds = isKnown ? rounded(Math.max(...ends) - (startSeconds ?? 0)) : duration;
  const isTimed = durationSeconds !== undefined && durationSeconds > 0;
  return withDefined({
    durationSeconds: isTimed ? durationSeconds : undefined,
    startSeconds,
    bitsPerSecond: isTimed ? Math.round((bytes * 8) / durationSeconds) : undefined,
  });
}

function streamFrom(stream: JsonObject, format: string): ProbedStream {
  const type = stream.codec_type;
  const kind = type === 'video' || type === 'audio' || type === 'subtitle' ? type : 'other';
  const disposition = objectFrom(stream.disposition);
  const tags = objectFrom(stream.tags);
  const language = textFrom(tags.language);
  return withDefined({
    index: numberFrom(stream.index) ?? 0,
    kind,
    codec: textFrom(stream.codec_name) ?? 'unknown',
    profile: textFrom(stream.profile),
    ...(kind === 'video' ? videoFrom(stream, format) : {}),
    ...(kind === 'audio'
      ? { sampleRate: aboveZero(stream.sample_rate), channels: aboveZero(stream.channels) }
      : {}),
    bitsPerSecond: aboveZero(stream.bit_rate),
    ...lengthFrom(stream, format.split(',').includes('mp4')),
    isDefault: disposition.default === 1,
    isCoverImage: disposition.attached_pic === 1,
    ...flag('isForced', disposition.forced),
    ...flag('isForHearingImpaired', disposition.hearing_impaired),
    ...flag('isForVisuallyImpaired', disposition.visual_impaired),
    ...flag('isCommentary', disposition.comment),
    ...flag('hasClosedCaptions', stream.closed_captions),
    title: textFrom(tags.title),
    language: language === 'und' ? undefined : language,
  });
}

function flag<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: true } {
  return value === 1 ? ({ [name]: true } as { [Key in Name]: true }) : {};
}

/** ffprobe reports the end time as the duration of a fragmented MP4, which alone lacks `nb_frames`. */
function lengthFrom(stream: JsonObject, isMp4: boolean): Partial<ProbedStream> {
  const startSeconds = numberFrom(stream.start_time);
  const duration = aboveZero(stream.duration);
  const isEnd =
    isMp4 && numberFrom(stream.nb_frames) === undefined && (startSeconds ?? 0) > maxReorderSeconds;
  const durationSeconds =
    isEnd && duration !== undefined && duration > startSeconds!
      ? rounded(duration - startSeconds!)
      : duration;
  return withDefined({ durationSeconds, startSeconds });
}

function videoFrom(stream: JsonObject, format: string): Partial<ProbedStream> {
  return withDefined({
    width: aboveZero(stream.width),
    height: aboveZero(stream.height),
    ...orientationFrom(stream),
    pixelAspect: quotientFrom(stream.sample_aspect_ratio, ':') ?? 1,
    pixelFormat: textFrom(stream.pix_fmt),
    colorTransfer: textFrom(stream.color_transfer),
    colorPrimaries: textFrom(stream.color_primaries),
    colorSpace: textFrom(stream.color_space),
    fieldOrder: textFrom(stream.field_order),
    ...((numberFrom(stream.has_b_frames) ?? 0) > 0 ? { isReordered: true } : {}),
    ...frameRatesFrom(stream, format),
  });
}

/**
 * The display matrix turns counterclockwise, the tag of old versions clockwise. Within one degree of a quarter, ffmpeg
 * turns the picture upright by quarters; otherwise, it turns it inside of its frame.
 */
function orientationFrom(stream: JsonObject): Pick<ProbedStream, 'rotation' | 'isTransformed'> {
  const sideData = Array.isArray(stream.side_data_list) ? stream.side_data_list.map(objectFrom) : [];
  const turned = sideData.map(data => numberFrom(data.rotation)).find(degrees => degrees !== undefined);
  const degrees = turned === undefined ? (numberFrom(objectFrom(stream.tags).rotate) ?? 0) : -turned;
  const quarters = Math.round(degrees / 90);
  const isQuarter = Math.abs(degrees - 90 * quarters) < 1;
  const matrix = sideData.map(data => matrixFrom(data.displaymatrix)).find(found => found !== undefined);
  const isMirrored = matrix !== undefined && matrix.a * matrix.d < matrix.b * matrix.c;
  return {
    rotation: isQuarter ? (((quarters % 4) + 4) % 4) * 90 : 0,
    ...(isMirrored || !isQuarter ? { isTransformed: true } : {}),
  };
}

/** ISO/IEC 14496-12, 6.2.2: `x' = a x + c y` and `y' = b x + d y`. */
function matrixFrom(text: unknown) {
  const rows = String(text).matchAll(/^[\da-f]{8}:((?:\s+-?\d+){3})\s*$/gm);
  const [one, other] = [...rows].map(row => row[1]!.trim().split(/\s+/).map(Number));
  if (one === undefined || other === undefined) return undefined;
  return { a: one[0]!, b: one[1]!, c: other[0]!, d: other[1]! };
}

/** ffprobe 7 reports its own assumption as the average of a raw stream, and the rate of fields as the base of H.264. */
function frameRatesFrom(
  stream: JsonObject,
  format: string,
): Pick<ProbedStream, 'averageFrameRate' | 'baseFrameRate'> {
  const average = frameRateFrom(stream.avg_frame_rate);
  const base = frameRateFrom(stream.r_frame_rate);
  const isAssumed = rawFormats.includes(format) && average === usualRawFrameRate && base !== average;
  if (!isAssumed) return withDefined({ averageFrameRate: average, baseFrameRate: base });
  const stated = base !== undefined && format === 'h264' ? base / 2 : base;
  return withDefined({ averageFrameRate: stated, baseFrameRate: stated });
}

/** ffprobe reports the time base as the rate of a stream without frames. */
function frameRateFrom(value: unknown): number | undefined {
  const rate = quotientFrom(value, '/');
  return rate !== undefined && rate <= 1000 ? rate : undefined;
}

function quotientFrom(value: unknown, sign: string): number | undefined {
  const [dividend, divisor] = String(value).split(sign).map(Number);
  const quotient = (dividend ?? 0) / (divisor ?? 0);
  return Number.isFinite(quotient) && quotient > 0 ? quotient : undefined;
}

function aboveZero(value: unknown): number | undefined {
  const number = numberFrom(value);
  return number !== undefined && number > 0 ? number : undefined;
}

function numberFrom(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const number = value === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function textFrom(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'unknown' ? value : undefined;
}

function objectFrom(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

type Defined<Value> = { [Key in keyof Value]: Exclude<Value[Key], undefined> };

function withDefined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Defined<Value>;
}
