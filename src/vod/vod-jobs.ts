import type { JobKind, RunningJob } from '../jobs/job.ts';
import { additionalCodecs } from '../shared/additional-codecs.ts';
import { isLeftOut } from '../shared/audio-rendition.ts';
import { AppError, errorRegister, messageOf } from '../shared/errors.ts';
import type { Transaction } from '../store/connection.ts';
import { extractCaptions } from './captions/captions-job.ts';
import { encodeCodec } from './encode/codec-job.ts';
import { encodeVideo } from './encode/encode-job.ts';
import { makeMp4 } from './encode/mp4-job.ts';
import { canDecodeImage } from './images/can-decode-image.ts';
import { makeRequestedFrame, makeThumbnails } from './images/image-jobs.ts';
import { watermarkImage } from './images/image-watermark.ts';
import { prepareVideo } from './source/prepare-job.ts';
import { failSummary, summarizeVideo } from './transcripts/summarize-job.ts';
import { failTranscript, transcribeVideo } from './transcripts/transcribe-job.ts';
import { enqueueVodJob, type VodContext, type VodJobKind, vodLanes } from './vod-context.ts';

/** Attempts over more than an hour, in which disk space may become free. */
const maxAttempts = 12;
/** A file that ffmpeg cannot decode fails every time. */
const maxFfmpegFailures = 2;
const imageTimeoutMs = 15_000;
const unusable = 'The file cannot be used as a video.';
const tryAgain = 'The file is kept: try again later.';
const serverFault = `The server could not process this file. ${tryAgain}`;

export class VodJobs {
  readonly #context: VodContext;

  constructor(context: VodContext) {
    this.#context = context;
  }

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
    const refused: NonNullable<JobKind['onGiveUp']> = async ({ subjectId }, error, transaction) => {
      const reason = sentenceOf(error);
      transaction.afterCommit(() => context.log.info('video-refused', { videoId: subjectId, reason }));
      await context.records.markRefused(subjectId, reason, transaction);
    };
    return [
      kind('prepare', vodLanes.prepare, prepareVideo, refused),
      kind('encode', vodLanes.encode, encodeVideo, refused),
      kind('mp4', vodLanes.prepare, makeMp4, ({ subjectId }, _error, transaction) =>
        this.#mp4Failed(subjectId, transaction),
      ),
      ...additionalCodecs.map(codec =>
        kind(
          codec,
          vodLanes.codecs,
          (context, job) => encodeCodec(context, job, codec),
          async ({ subjectId }, error, transaction) => {
            const reason = sentenceOf(error);
            transaction.afterCommit(() =>
              context.log.warn('codec-renditions-failed', { videoId: subjectId, codec, reason, error }),
            );
            await context.codecRenditions.failUnfinished(subjectId, codec, transaction);
          },
        ),
      ),
      // Videos work without captions and thumbnails.
      kind('captions', vodLanes.prepare, extractCaptions, async () => {}),
      kind('transcribe', vodLanes.transcripts, transcribeVideo, (job, error, transaction) =>
        failTranscript(context, job, error, transaction),
      ),
      kind('summarize', vodLanes.transcripts, summarizeVideo, (job, error, transaction) =>
        failSummary(context, job, error, transaction),
      ),
      kind('stills', vodLanes.images, queued(makeThumbnails), async () => {}),
      kind('frame', vodLanes.images, queued(makeRequestedFrame), async () => {}),
    ];
  }

  sourceReady(videoId: string, transaction: Transaction): Promise<void> {
    return enqueueVodJob(this.#context, 'prepare', videoId, transaction);
  }

  /** Returns false when nothing of the video has failed. */
  async retry(videoId: string, transaction: Transaction): Promise<boolean> {
    const { records, codecRenditions, jobs } = this.#context;
    await records.lockPlan(videoId, transaction);
    const state = await records.state(videoId, transaction);
    if (state === undefined) return false;
    if (!state.isPlayable) {
      if (state.failure === undefined) return false;
      await records.reset(videoId, transaction);
      await this.sourceReady(videoId, transaction);
      return true;
    }
    const failed = state.renditions.filter(one => one.status === 'failed' && !isLeftOut(one));
    const failedCodecs = state.codecRenditions.filter(({ status }) => status === 'failed');
    if (failed.length + failedCodecs.length === 0) return false;
    await records.markWaiting(videoId, failed, transaction);
    await codecRenditions.markWaiting(videoId, failedCodecs, transaction);
    // Enqueues the encode, which enqueues the MP4 and the other codecs, too, and repeats nothing that is finished.
    if (!(await jobs.has('encode', videoId, transaction))) {
      await enqueueVodJob(this.#context, 'encode', videoId, transaction);
    }
    return true;
  }

  /**
   * Transcribes a prepared source. Other sources enqueue the job when they are prepared. A job that is still listed has
   * finished the request before this one, and only cleans up.
   */
  async transcribePrepared(videoId: string, transaction: Transaction): Promise<void> {
    const { records } = this.#context;
    await records.lockPlan(videoId, transaction);
    const state = await records.state(videoId, transaction);
    if (state === undefined || state.renditions.length === 0) return;
    await enqueueVodJob(this.#context, 'transcribe', videoId, transaction);
  }

  summarize(videoId: string, transaction: Transaction): Promise<void> {
    return enqueueVodJob(this.#context, 'summarize', videoId, transaction);
  }

  /** Ends a transcription or summary that waits or runs. */
  withdraw(kind: 'transcribe' | 'summarize', videoId: string, transaction: Transaction): Promise<void> {
    return this.#context.jobs.remove(videoId, transaction, kind);
  }

  async updateMp4Support(videoId: string, isWanted: boolean, transaction: Transaction): Promise<void> {
    const { records, jobs } = this.#context;
    await records.lockPlan(videoId, transaction);
    const renditions = (await records.state(videoId, transaction))?.renditions ?? [];
    const top = renditions.findLast(({ type }) => type === 'hls');
    if (top === undefined) return;
    const mp4 = { type: 'mp4', quality: top.quality } as const;
    if (!isWanted) {
      // Keeps the file, in case the MP4 is wanted again.
      await records.removeRendition(videoId, mp4, transaction);
      return;
    }
    await records.addRendition(videoId, mp4, transaction);
    const parts = renditions.filter(one => one.type === 'audio' && !isLeftOut(one)).concat(top);
    if (parts.every(({ status }) => status === 'encoded')) {
      if (await jobs.has('mp4', videoId, transaction)) return;
      await enqueueVodJob(this.#context, 'mp4', videoId, transaction);
    } else if (!(await jobs.has('encode', videoId, transaction))) {
      const reason = 'The MP4 could not be created: encoding its rendition failed.';
      await records.markFailed(videoId, [mp4], reason, transaction);
    }
  }

  requestFrame(videoId: string, transaction: Transaction): Promise<void> {
    return enqueueVodJob(this.#context, 'frame', videoId, transaction);
  }

  /** Returns false when the image cannot be decoded. @throws AppError `images-busy` */
  canDecode(path: string): Promise<boolean> {
    const { tools, images } = this.#context;
    return images.serve(() =>
      canDecodeImage(tools, path, { signal: AbortSignal.timeout(imageTimeoutMs), ids: {} }),
    );
  }

  /** Returns false when the image cannot be decoded. @throws AppError `images-busy` */
  watermarkImage(path: string): Promise<boolean> {
    const { tools, images, settings } = this.#context;
    return images.serve(() =>
      watermarkImage(
        {
          tools,
          signal: AbortSignal.timeout(4 * imageTimeoutMs),
          ids: {},
          memoryBytes: settings.memoryBytes,
        },
        path,
      ),
    );
  }

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

  async #mp4Failed(videoId: string, transaction: Transaction): Promise<void> {
    const { records } = this.#context;
    const state = await records.state(videoId, transaction);
    const mp4 = state?.renditions.filter(({ type }) => type === 'mp4') ?? [];
    await records.markFailed(videoId, mp4, 'The MP4 could not be created.', transaction);
  }
}

function queued(
  run: (context: VodContext, job: RunningJob) => Promise<void>,
): (context: VodContext, job: RunningJob) => Promise<void> {
  return (context, job) => context.images.run(() => run(context, job));
}

/** Makes errors final that another attempt would repeat. */
function finalOf(error: unknown, job: RunningJob): unknown {
  const isPermanent = error instanceof AppError && error.code === 'process-failed';
  if (!isPermanent || job.attempt < maxFfmpegFailures) return error;
  return new AppError('media-refused', messageOf(error), { cause: error, details: { detail: unusable } });
}

/** Blames the file only where it is at fault. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof AppError)) return serverFault;
  if (error.kind === 'unavailable') return `${errorRegister[error.code].title} ${tryAgain}`;
  return error.details.detail ?? (error.kind === 'invalid' ? unusable : serverFault);
}
