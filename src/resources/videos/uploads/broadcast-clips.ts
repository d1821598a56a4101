import { attributeError } from '../../../http/routing/validation.ts';
import { newId } from '../../../shared/ids.ts';
import { minClipMs } from '../../../shared/limits/resource-limits.ts';
import type { Clip, VideoAttributes } from '../videos/video.ts';
import { type ClipRange, clipRange } from './clip-range.ts';
import type { ClippableBroadcast, ClipTarget, LiveClips, MadeClip, StoreClip } from './clip-sources.ts';
import type { SourceFiles } from './source-files.ts';
import type { UploadQuotas } from './upload-quotas.ts';

/** A part of a broadcast that is stored as the source of a video. */
interface CopiedBroadcast {
  readonly liveStreamId: string;
  readonly videoId: string;
  readonly bytes: number;
  /** Remains to be cut when it is encoded. */
  readonly clip: ClipRange | undefined;
  readonly store: StoreClip;
}

const maxClipMs = 3_600_000;
const maxCopyMs = 120_000;

/** Copies parts of broadcasts at once, since viewers can rewind only for a time. */
export class BroadcastClips {
  readonly #files: SourceFiles;
  readonly #quotas: Pick<UploadQuotas, 'requireStorage'>;
  readonly #live: LiveClips;

  constructor(files: SourceFiles, quotas: Pick<UploadQuotas, 'requireStorage'>, live: LiveClips) {
    this.#files = files;
    this.#quotas = quotas;
    this.#live = live;
  }

  /** Creates a clip as {@link LiveClips.createElsewhere} does. */
  async createElsewhere(
    projectId: string,
    liveStreamId: string,
    attributes: VideoAttributes,
  ): Promise<string | undefined> {
    return this.#live.createElsewhere?.(projectId, liveStreamId, attributes);
  }

  /**
   * Undefined when the project has no such live stream. Call {@link remove} when no video gets the copy; after a crash, the
   * sweep removes it.
   * @throws AppError `live-stream-not-broadcasting` or `storage-limit-reached`
   */
  async copy(
    projectId: string,
    liveStreamId: string,
    clip: Clip | undefined,
  ): Promise<CopiedBroadcast | undefined> {
    const broadcast = await this.#live.find(projectId, liveStreamId);
    if (broadcast === undefined) return undefined;
    if (clip === undefined) {
      throw attributeError('clip', 'Send the part of the broadcast, such as {"lastSeconds": 30}.');
    }
    const range = clipRange(clip, availableUntil(clip, broadcast));
    if (range.endMs - range.startMs > maxClipMs) {
      throw attributeError('clip[endTimecode]', 'A clip of a broadcast can be at most one hour long.');
    }
    await this.#files.checkRoom(0);
    const videoId = newId('vi');
    const signal = AbortSignal.timeout(maxCopyMs);
    const seconds = { startSeconds: range.startMs / 1000, endSeconds: range.endMs / 1000 };
    try {
      const isExact = clip.precision !== 'keyframe';
      const target = { videoId, path: this.#files.partial(videoId), isExact };
      const made = await broadcast.write(seconds, target, signal);
      await this.#quotas.requireStorage(projectId, made.bytes);
      await this.#files.publishPartial(videoId, signal);
      return {
        liveStreamId,
        videoId,
        bytes: made.bytes,
        clip: remainingClip(range, target, made),
        store: await made.prepare(signal),
      };
    } catch (error) {
      await this.remove(videoId);
      throw error;
    }
  }

  remove(videoId: string): Promise<void> {
    return this.#files.removeVideo(videoId);
  }
}

/** Leaves out what is newer than the end of the clip, but for its first second. */
function availableUntil({ untilMs }: Clip, { startedAtMs, available }: ClippableBroadcast): ClipRange {
  const { startMs, endMs } = available;
  if (untilMs === undefined || untilMs - startedAtMs >= endMs) return available;
  const isGone = untilMs - startedAtMs < startMs;
  return { startMs, endMs: isGone ? startMs : Math.max(untilMs - startedAtMs, startMs + minClipMs) };
}

/** The part to cut from a copy that begins before its clip. Undefined: nothing. */
export function remainingClip(
  { startMs, endMs }: ClipRange,
  { isExact }: Pick<ClipTarget, 'isExact'>,
  { isEncoded, leadSeconds }: Pick<MadeClip, 'isEncoded' | 'leadSeconds'>,
): ClipRange | undefined {
  if (!isExact || !isEncoded) return undefined;
  const leadMs = Math.round(leadSeconds * 1000);
  return { startMs: leadMs, endMs: leadMs + endMs - startMs };
}
