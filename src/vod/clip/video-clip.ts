import { parseInitSegment } from '../../media/cmaf/init-segment.ts';
import { isLeftOut, parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { AppError } from '../../shared/errors.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import { readFully } from '../../storage/read-fully.ts';
import { orderedTracks } from '../encode/mp4-job.ts';
import type { EncodingState, StoredRendition } from '../encoding-repository.ts';
import type { OpenRendition } from '../index/rendition.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import type { VodContext } from '../vod-context.ts';
import type { ClipMedia, ClipRange, ClipRow } from './clip-media.ts';
import { type WrittenClip, writeClip } from './clip-writer.ts';

type ClipContext = Pick<VodContext, 'records' | 'reader' | 'files'>;

interface ClippableRenditions {
  /** The highest quality. Undefined without video. */
  readonly video: StoredRendition | undefined;
  /** In stereo, the default track first. */
  readonly audio: ReturnType<typeof orderedTracks>;
}

/** Times of segments are sums of rounded durations. */
const roundingSeconds = 0.001;
const goneReason = 'The video that was to be clipped is gone.';

/** Time that viewers get. Undefined until the highest quality can be played. */
export async function clippableSeconds(
  { records }: Pick<VodContext, 'records'>,
  videoId: string,
): Promise<number | undefined> {
  const state = await records.state(videoId);
  const found = state && clippableRenditions(state);
  const main = found?.video ?? found?.audio[0]?.rendition;
  if (main === undefined) return undefined;
  const { durationSeconds, endSeconds } = main.facts as RenditionRecord;
  return endSeconds ?? durationSeconds;
}

/**
 * Copies a range of a video into a fragmented MP4 file, from its highest quality.
 * @throws AppError `media-refused` when the video is gone
 */
export async function clipVideo(
  context: ClipContext,
  clip: { readonly videoId: string; readonly range: ClipRange; readonly path: string },
  signal: AbortSignal,
): Promise<WrittenClip> {
  const { records, reader, files } = context;
  const { videoId, range } = clip;
  const state = await records.state(videoId);
  const found = state && clippableRenditions(state);
  if (found === undefined) throw new AppError('media-refused', goneReason);
  const open = async ({ file }: StoredRendition) => reader.open(files.video(videoId, file!));
  const video = found.video && (await open(found.video));
  const audio = await Promise.all(
    found.audio.map(async ({ rendition, isDefault, label: { language, title } }) => ({
      rendition: await open(rendition),
      label: { language, name: title, isDefault },
    })),
  );
  const media = {
    renditions: [
      ...(video === undefined ? [] : [parseInitSegment(video.init)]),
      ...audio.map(({ rendition, label }) =>
        parseInitSegment(rendition.init).map(track => (audio.length > 1 ? { ...track, label } : track)),
      ),
    ],
    rows: rowsOf(
      [...(video === undefined ? [] : [video]), ...audio.map(({ rendition }) => rendition)],
      range,
      files.storage,
    ),
  };
  return writeClip(clip.path, media satisfies ClipMedia, range, signal);
}

function clippableRenditions(state: EncodingState): ClippableRenditions | undefined {
  const { renditions } = state;
  const top = renditions.findLast(({ type }) => type === 'hls');
  const stereo = renditions.filter(
    one =>
      one.type === 'audio' && !isLeftOut(one) && parseAudioRenditionName(one.quality)?.isSurround === false,
  );
  const needed = [...(top === undefined ? [] : [top]), ...stereo];
  if (needed.length === 0 || needed.some(({ status }) => status !== 'encoded')) return undefined;
  return { video: top, audio: orderedTracks(stereo, state) };
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
  const bodies: Buffer[] = [];
  for (let index = from; index < to; index += 1) {
    bodies.push(await readParts((await rendition.readSegment(index)).parts, storage));
  }
  return Buffer.concat(bodies);
}

/** Parts that are in files, and parts in memory. @throws AppError `server-error` when a file is too short */
export async function readParts(
  parts: readonly (Buffer | FileSlice)[],
  storage: Pick<MediaStorage, 'open'>,
): Promise<Buffer> {
  const files = new Map<string, OpenedFile>();
  try {
    const bodies: Buffer[] = [];
    for (const part of parts) {
      if (Buffer.isBuffer(part)) {
        bodies.push(part);
        continue;
      }
      const file = files.get(part.path) ?? (await storage.open(part.path));
      files.set(part.path, file);
      const bytes = await readFully(file, part.start, part.length);
      if (bytes.length < part.length) throw new AppError('server-error', `${part.path} is too short.`);
      bodies.push(bytes);
    }
    return Buffer.concat(bodies);
  } finally {
    await Promise.all([...files.values()].map(file => file.close()));
  }
}
