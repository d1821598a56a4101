import { parseInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackLabel } from '../../media/cmaf/track-label.ts';
import { audioRenditionName, isLeftOut, parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { AppError } from '../../shared/errors.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import { readFully } from '../../storage/read-fully.ts';
import { orderedTracks } from '../encode/mp4-job.ts';
import type { AudioTrack, EncodingState, StoredRendition } from '../encoding-repository.ts';
import type { OpenRendition } from '../index/rendition.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import type { VodContext } from '../vod-context.ts';
import type { ClipMedia, ClipRange, ClipRow } from './clip-media.ts';
import { cutTextTracks } from './clip-texts.ts';
import { type ClipTarget, type MadeClip, makeClip, mustEncode, type StoreClip } from './make-clip.ts';

interface VideoClip {
  /** The source video. */
  readonly videoId: string;
  readonly range: ClipRange;
}

interface ClippableRenditions {
  /** The highest quality. Undefined without video. */
  readonly video: StoredRendition | undefined;
  /** Audio by track, the default one first. */
  readonly audio: readonly {
    readonly stereo: StoredRendition;
    readonly surround: StoredRendition | undefined;
    readonly label: TrackLabel;
  }[];
  /** Tracks as the owner sees them, numbered as `audio`. */
  readonly tracks: readonly AudioTrack[];
}

/** Times of segments are sums of rounded durations. */
const roundingSeconds = 0.001;
/** Largest gap, with media of other tracks, between slices that are read at once. */
const maxGapBytes = 512 * 1024;
const maxReadBytes = 8 * 1024 * 1024;
/**
 * Maximum bytes of a row, which is read into memory: about 40 s of the highest bit rate that is not encoded again.
 */
const maxRowBytes = 256 * 1024 * 1024;
const goneReason = 'The video to clip was deleted.';

/** Time that viewers get. Undefined until the highest quality can be played. */
export async function clippableSeconds(
  { records }: Pick<VodContext, 'records'>,
  videoId: string,
): Promise<number | undefined> {
  const state = await records.state(videoId);
  const found = state && clippableRenditions(state);
  const main = found?.video ?? found?.audio[0]?.stereo;
  if (main === undefined) return undefined;
  const { durationSeconds, endSeconds } = main.renditionMetadata as RenditionRecord;
  return endSeconds ?? durationSeconds;
}

/**
 * Copies a range of a video into a fragmented MP4 file, from its highest quality.
 * @throws AppError `media-refused` when the video is gone
 */
export async function clipVideo(
  context: VodContext,
  clip: VideoClip,
  target: ClipTarget,
  signal: AbortSignal,
): Promise<MadeClip> {
  const { videoId, range } = clip;
  const { records, files, settings } = context;
  const state = await records.state(videoId);
  const request = await records.request(target.videoId);
  const found = state && clippableRenditions(state);
  if (found === undefined) throw new AppError('media-refused', goneReason);
  const made = await makeClip(
    context,
    target,
    {
      range,
      media: async isEncoded => {
        const { renditions, media } = await mediaOf(context, videoId, found, isEncoded);
        return { ...media, rows: rowsOf(renditions, range, files.storage) };
      },
      mustEncode:
        request !== undefined &&
        mustEncode({ ...request, clip: undefined }, [rangeOf(range)], settings.sandboxVideoMs),
    },
    signal,
  );
  return { ...made, prepare: preparing => prepareWithTexts(context, clip, target, made, preparing) };
}

async function prepareWithTexts(
  context: VodContext,
  { videoId, range }: VideoClip,
  target: ClipTarget,
  { leadSeconds, prepare }: MadeClip,
  signal: AbortSignal,
): Promise<StoreClip> {
  const startSeconds = range.startSeconds - (target.isExact ? 0 : leadSeconds);
  const ofCopy = { from: videoId, to: target.videoId, range: { ...range, startSeconds } };
  const storeTexts = await cutTextTracks(context, ofCopy, signal);
  const store = await prepare(signal);
  return async transaction => {
    await storeTexts(transaction);
    return store(transaction);
  };
}

/**
 * Collects the media, with audio in stereo and in 5.1, because viewers get both. Media to encode has one of them,
 * from which both are made.
 */
async function mediaOf(
  { reader, files }: VodContext,
  videoId: string,
  { video, audio, tracks }: ClippableRenditions,
  isEncoded: boolean,
) {
  const audioOf = (isSurround: boolean) =>
    audio.flatMap(({ stereo, surround, label }, index) => {
      const rendition = isSurround ? surround : isEncoded ? (surround ?? stereo) : stereo;
      const name = audioRenditionName({ track: index + 1, isSurround });
      return rendition === undefined
        ? []
        : [{ rendition, name, label: { ...label, isDefault: label.isDefault && !isSurround } }];
    });
  const chosen = [...audioOf(false), ...(isEncoded ? [] : audioOf(true))];
  const stored = [...(video === undefined ? [] : [video]), ...chosen.map(({ rendition }) => rendition)];
  const renditions = await Promise.all(stored.map(({ file }) => reader.open(files.video(videoId, file!))));
  const media = {
    renditions: renditions.map(({ init }, index) => {
      const { label } = chosen[index - stored.length + chosen.length] ?? {};
      return parseInitSegment(init).map(track => (chosen.length > 1 ? { ...track, label } : track));
    }),
    audioNames: chosen.map(({ name }) => name),
    audioTracks: tracks,
    isPlayable: true,
  } satisfies Omit<ClipMedia, 'rows'>;
  return { renditions, media };
}

function clippableRenditions(state: EncodingState): ClippableRenditions | undefined {
  const { renditions, audioTracks } = state;
  const top = renditions.findLast(({ type }) => type === 'hls');
  const audio = renditions.filter(one => one.type === 'audio' && !isLeftOut(one));
  const needed = [...(top === undefined ? [] : [top]), ...audio];
  if (needed.length === 0 || needed.some(({ status }) => status !== 'encoded')) return undefined;
  const surround = new Map(
    audio.flatMap(rendition => {
      const parsed = parseAudioRenditionName(rendition.quality);
      return parsed?.isSurround === true ? [[parsed.track, rendition] as const] : [];
    }),
  );
  const stereo = audio.filter(({ quality }) => parseAudioRenditionName(quality)?.isSurround === false);
  const ordered = orderedTracks(stereo, state);
  return {
    video: top,
    audio: ordered.map(({ rendition, track, isDefault, label: { language, title } }) => ({
      stereo: rendition,
      surround: surround.get(track),
      label: { language, name: title, isDefault },
    })),
    tracks: audioTracks.flatMap(known => {
      const index = ordered.findIndex(({ track }) => track === known.track);
      return index === -1 ? [] : [{ ...known, track: index + 1 }];
    }),
  };
}

/** A row for each segment of the first rendition that the range overlaps. */
function rowsOf(renditions: readonly OpenRendition[], range: ClipRange, storage: MediaStorage): ClipRow[] {
  const [main] = renditions;
  if (main === undefined) return [];
  const first = Math.max(0, countBefore(main, range.startSeconds + roundingSeconds) - 1);
  const end = countBefore(main, range.endSeconds);
  return Array.from({ length: Math.max(0, end - first) }, (_, offset) => {
    const index = first + offset;
    const startSeconds = main.startSeconds(index);
    const nextSeconds = index + 1 < end ? main.startSeconds(index + 1) : range.endSeconds;
    return {
      startSeconds,
      read: async number => {
        const rendition = renditions[number];
        if (rendition === undefined) return Buffer.alloc(0);
        if (number === 0) return readSegments(rendition, index, index + 1, storage);
        // The first row has the frame before that of the video, too.
        const from = countBefore(rendition, startSeconds) - (offset === 0 ? 1 : 0);
        return readSegments(rendition, Math.max(0, from), countBefore(rendition, nextSeconds), storage);
      },
    };
  });
}

/** Segments that begin before a time. */
function countBefore(rendition: OpenRendition, seconds: number): number {
  let low = 0;
  let high = rendition.segmentCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rendition.startSeconds(middle) < seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function readSegments(
  rendition: OpenRendition,
  from: number,
  to: number,
  storage: MediaStorage,
): Promise<Buffer> {
  const parts: (Buffer | FileSlice)[] = [];
  for (let index = from; index < to; index += 1) parts.push(...(await rendition.readSegment(index)).parts);
  return readParts(parts, storage);
}

/**
 * Parts that are in files, and parts in memory. @throws AppError `server-error` when a file is too short, `media-refused` when they
 * are too much
 */
export async function readParts(
  parts: readonly (Buffer | FileSlice)[],
  storage: Pick<MediaStorage, 'open'>,
): Promise<Buffer> {
  const files = new Map<string, OpenedFile>();
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  if (bytes > maxRowBytes) {
    const reason = `A segment of the video has ${bytes} bytes, but clips support at most ${maxRowBytes}.`;
    throw new AppError('media-refused', `${reason} Encode the video at a lower bitrate first.`);
  }
  try {
    const bodies: Buffer[] = [];
    for (let at = 0; at < parts.length; ) {
      const part = parts[at]!;
      if (Buffer.isBuffer(part)) {
        bodies.push(part);
        at += 1;
        continue;
      }
      const near = nearSlices(parts, at);
      const last = near.at(-1)!;
      const file = files.get(part.path) ?? (await storage.open(part.path));
      files.set(part.path, file);
      const length = last.start + last.length - part.start;
      const bytes = await readFully(file, part.start, length);
      if (bytes.length < length) throw new AppError('server-error', `${part.path} is too short.`);
      for (const { start, length: own } of near) {
        bodies.push(bytes.subarray(start - part.start, start - part.start + own));
      }
      at += near.length;
    }
    return Buffer.concat(bodies);
  } finally {
    await Promise.all([...files.values()].map(file => file.close()));
  }
}

/** Slices between which little else is: one read takes less time than one for each. */
function nearSlices(parts: readonly (Buffer | FileSlice)[], from: number): FileSlice[] {
  const near: FileSlice[] = [];
  for (let at = from; at < parts.length; at += 1) {
    const part = parts[at]!;
    if (Buffer.isBuffer(part)) break;
    const [first = part] = near;
    const { start, length } = near.at(-1) ?? { start: part.start, length: 0 };
    const gapBytes = part.start - start - length;
    if (part.path !== first.path || gapBytes < 0 || gapBytes > maxGapBytes) break;
    if (near.length > 0 && part.start + part.length - first.start > maxReadBytes) break;
    near.push(part);
  }
  return near;
}

function rangeOf({ startSeconds, endSeconds }: ClipRange) {
  return { durationTicks: endSeconds - startSeconds, timescale: 1 };
}
