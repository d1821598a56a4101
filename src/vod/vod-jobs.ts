import type { JobKind, RunningJob } from '../jobs/job.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import { encodeVideo } from './encode/encode-job.ts';
import { makeMp4 } from './encode/mp4-job.ts';
import { canDecodeImage } from './images/can-decode-image.ts';
import { makeRequestedFrame, makeStills } from './images/image-jobs.ts';
import { watermarkImage } from './images/image-watermark.ts';
import { prepareVideo } from './source/prepare-job.ts';
import { enqueueVodJob, type VodContext, type VodJobKind, vodLanes } from './vod-context.ts';

/** Over an hour: room on a full disk may come back. */
const maxAttempts = 12;
/** ffmpeg fails at a file that it cannot read in the same way each time. */
const maxFfmpegFailures = 2;
const imageTimeoutMs = 15_000;
const unusable = 'The file cannot be used as a video.';

/** All that is made of a video's source, as jobs. */
export class VodJobs {
  readonly #context: VodContext;

  constructor(context: VodContext) {
    this.#context = context;
  }

  /** For the queue. */
  kinds(): JobKind[] {
    const context = this.#context;
    const kind = (
      name: VodJobKind,
      lane: JobKind['lane'],
      run: (context: VodContext, job: RunningJob) => Promise<void>,
      onGiveUp: NonNullable<JobKind['onGiveUp']>,
    ): JobKind => ({
      kind: name,
      lane,
      maxAttempts,
      run: job => this.#run(job, run),
      onGiveUp,
    });
    const refused: JobKind['onGiveUp'] = ({ subjectId }, error) => {
      const reason = sentenceOf(error);
      context.log.info('video-refused', { videoId: subjectId, reason });
      context.records.markRefused(subjectId, reason);
    };
    return [
      kind('prepare', vodLanes.prepare, prepareVideo, refused),
      kind('encode', vodLanes.encode, encodeVideo, refused),
      kind('mp4', vodLanes.prepare, makeMp4, ({ subjectId }) => this.#mp4Failed(subjectId)),
      // A video without pictures of itself is still a video.
      kind('stills', vodLanes.images, queued(makeStills), () => {}),
      kind('frame', vodLanes.images, queued(makeRequestedFrame), () => {}),
    ];
  }

  /** A video's source is complete; in the transaction that says so. */
  sourceReady(videoId: string): void {
    enqueueVodJob(this.#context, 'prepare', videoId);
  }

  /** Whether a video is to have an mp4 has changed. */
  updateMp4Support(videoId: string, isWished: boolean): void {
    const { records } = this.#context;
    const renditions = records.state(videoId)?.renditions ?? [];
    const top = renditions.findLast(({ type }) => type === 'hls');
    // Its source has not been looked into: the wish is read then.
    if (top === undefined) return;
    const mp4 = { type: 'mp4', quality: top.quality } as const;
    if (!isWished) {
      // Its file stays for as long as the video: the wish may come back.
      records.removeRendition(videoId, mp4);
      return;
    }
    records.transaction(() => {
      records.addRendition(videoId, mp4);
      const parts = renditions.filter(({ type }) => type === 'audio').concat(top);
      if (parts.every(({ status }) => status === 'encoded')) {
        if (!this.#context.jobs.has('mp4', videoId)) enqueueVodJob(this.#context, 'mp4', videoId);
      } else if (!this.#context.jobs.has('encode', videoId)) {
        // Nobody will ever encode what it is made of.
        records.markFailed(videoId, [mp4], 'The MP4 cannot be made: the quality that it is made of failed.');
      }
    });
  }

  /** Somebody wants another frame for a video's image. */
  requestFrame(videoId: string): void {
    enqueueVodJob(this.#context, 'frame', videoId);
  }

  /**
   * Tells whether an image that is to be burned in can be decoded.
   *
   * @throws AppError `images-busy`
   */
  canDecode(path: string): Promise<boolean> {
    const { tools, images } = this.#context;
    return images.serve(() =>
      canDecodeImage(tools, path, { signal: AbortSignal.timeout(imageTimeoutMs), ids: {} }),
    );
  }

  /**
   * Makes of an image a JPEG that carries the sandbox's watermark, in its place.
   *
   * @returns false when no picture comes out of it
   * @throws AppError `images-busy`
   */
  watermarkImage(path: string): Promise<boolean> {
    const { tools, images, settings } = this.#context;
    return images.serve(() =>
      watermarkImage(
        {
          tools,
          // Each of its processes has a limit of its own.
          signal: AbortSignal.timeout(4 * imageTimeoutMs),
          ids: {},
          memoryBytes: settings.memoryBytes,
        },
        path,
      ),
    );
  }

  /** Stops all work on a video and removes its files. */
  async removeVideo(videoId: string): Promise<void> {
    await this.#context.jobs.cancel(videoId);
    await this.#context.files.removeVideo(videoId);
  }

  async #run(job: RunningJob, run: (context: VodContext, job: RunningJob) => Promise<void>): Promise<void> {
    const { clock, log } = this.#context;
    const startedAtMs = clock.monotonicMs();
    const ids = { videoId: job.subjectId, job: job.kind, attempt: job.attempt };
    try {
      await run(this.#context, job);
    } catch (error) {
      throw finalOf(error, job);
    }
    log.info('video-job-done', { ...ids, ms: Math.round(clock.monotonicMs() - startedAtMs) });
  }

  #mp4Failed(videoId: string): void {
    const { records } = this.#context;
    const mp4 = records.state(videoId)?.renditions.filter(({ type }) => type === 'mp4') ?? [];
    records.markFailed(videoId, mp4, 'The MP4 could not be made.');
  }
}

/** Work on images of videos takes its turn with all other work on images. */
function queued(
  run: (context: VodContext, job: RunningJob) => Promise<void>,
): (context: VodContext, job: RunningJob) => Promise<void> {
  return (context, job) => context.images.run(() => run(context, job));
}

/** Makes an error final that another attempt would not mend. */
function finalOf(error: unknown, job: RunningJob): unknown {
  const isHopeless = error instanceof AppError && error.code === 'process-failed';
  if (!isHopeless || job.attempt < maxFfmpegFailures) return error;
  return new AppError('media-refused', messageOf(error), { cause: error, details: { detail: unusable } });
}

/** What the owner of a video is told. */
function sentenceOf(error: unknown): string {
  return (error instanceof AppError ? error.details.detail : undefined) ?? unusable;
}
