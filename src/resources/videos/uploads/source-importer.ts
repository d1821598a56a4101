import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { attributeError } from '../../../http/routing/validation.ts';
import type { JobKind, JobQueue, RunningJob } from '../../../jobs/job.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../../../shared/errors.ts';
import { isDiskFull, toMachineError } from '../../../shared/files/disk-error.ts';
import { type ResolveHost, resolveTarget } from '../../../shared/network/target-address.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { checkExactClip } from '../videos/exact-clip.ts';
import type { Clip, VideoAttributes } from '../videos/video.ts';
import type { PlannedVideoSource } from '../videos/video-source-importer.ts';
import { isAddress } from '../videos/watch-access.ts';
import { type BroadcastClips, remainingClip } from './broadcast-clips.ts';
import { type ClipRange, clipRange } from './clip-range.ts';
import type { ClipSources, StoreClip } from './clip-sources.ts';
import { maxSourceBytes } from './content-range.ts';
import { fetchSource, type TransferRate } from './fetch-source.ts';
import type { SourceConsumer } from './source-consumer.ts';
import type { SourceFiles } from './source-files.ts';
import type { UploadQuotas } from './upload-quotas.ts';
import {
  type FailSource,
  isComplete,
  type VideoSource,
  type VideoSourcesStore,
} from './video-sources.store.ts';

type SourcePlan = PlannedVideoSource &
  (
    | { readonly kind: 'fetch'; readonly address: string; readonly projectId: string }
    | { readonly kind: 'clone' | 'clip'; readonly videoId: string }
    | {
        readonly kind: 'copied';
        readonly videoId: string;
        readonly bytes: number;
        readonly store: StoreClip;
      }
  );

interface SourceImporterOptions {
  readonly store: VideoSourcesStore;
  readonly database: Database;
  readonly files: SourceFiles;
  readonly jobs: JobQueue;
  readonly quotas: UploadQuotas;
  readonly clips: ClipSources;
  readonly broadcastClips: BroadcastClips;
  readonly hasVideo: (projectId: string, videoId: string) => Promise<boolean>;
  readonly sourceReady: SourceConsumer['sourceReady'];
  readonly failSource: FailSource;
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
  readonly sourceTimeoutMs: () => number;
  readonly stallTimeoutMs: number;
  readonly minRate: TransferRate;
  readonly clock: Clock;
}

interface ImportedSource {
  readonly bytes: number;
  /** Set for a copied part, with what remains to be cut from it. */
  readonly clip?: { readonly rest: ClipRange | undefined; readonly store: StoreClip };
}

const maxAddressChars = 4_096;
/** About half a day with the queue's delays. */
const maxFetchAttempts = 60;
/** Attempts for a source that never sent a byte: about a quarter of an hour with the queue's delays. */
const maxEmptyAttempts = 6;
const maxCloneAttempts = 20;
/** Copying is instant, and a client is waiting. */
const clonePriority = 10;

export class SourceImporter {
  readonly #options: SourceImporterOptions;

  constructor(options: SourceImporterOptions) {
    this.#options = options;
  }

  createElsewhere(
    projectId: string,
    source: string,
    attributes: VideoAttributes,
  ): Promise<string | undefined> {
    return this.#options.broadcastClips.createElsewhere(projectId, source, attributes);
  }

  async plan(projectId: string, source: string, clip: Clip | undefined): Promise<SourcePlan> {
    await this.#options.quotas.requireStorage(projectId, 0);
    if (isAddress(source)) {
      checkExactClip(clip);
      return { kind: 'fetch', address: await this.#checkAddress(source), projectId, clip };
    }
    const { hasVideo, store, broadcastClips } = this.#options;
    const copied = await broadcastClips.copy(projectId, source, clip);
    if (copied !== undefined) {
      const { liveStreamId, videoId } = copied;
      return {
        kind: 'copied',
        ...copied,
        origin: { liveStreamId, videoId },
        clippedFrom: liveStreamId,
        copiedFrom: liveStreamId,
      };
    }
    if (!(await hasVideo(projectId, source))) {
      throw attributeError(
        'source',
        'The source must be an http or https URL, or the id of one of your videos or live streams.',
      );
    }
    const state = await store.source(source);
    if (state === undefined || !(isComplete(state) || state.status === 'assembling')) {
      throw attributeError('source', 'The source of this video is not complete.');
    }
    if (clip === undefined) return { kind: 'clone', videoId: source, copiedFrom: source };
    return { ...(await this.#planClip(source, clip)), copiedFrom: source };
  }

  /** Clips of videos that cannot be played yet are encoded, unless the caller chose keyframes. */
  async #planClip(videoId: string, clip: Clip): Promise<SourcePlan> {
    const seconds = await this.#options.clips.secondsOf(videoId);
    if (seconds !== undefined) {
      const range = clipRange(clip, { startMs: 0, endMs: Math.round(seconds * 1000) });
      const precision = clip.precision ?? 'frame';
      return { kind: 'clip', videoId, clip: { ...range, precision }, clippedFrom: videoId };
    }
    if (clip.precision !== 'keyframe' && clip.lastMs === undefined) return { kind: 'clone', videoId, clip };
    throw attributeError(
      'source',
      'The highest quality of this video is not encoded yet. Create the clip once it is.',
    );
  }

  /** Runs in the transaction that adds the video. */
  async begin(videoId: string, plan: SourcePlan, transaction: Transaction): Promise<void> {
    const { store, jobs, clock } = this.#options;
    const cloned = plan.kind === 'clone' ? await store.source(plan.videoId, transaction) : undefined;
    const source = {
      videoId,
      origin: plan.kind === 'fetch' ? 'url' : 'clone',
      status: 'ingesting',
      address: plan.kind === 'fetch' ? plan.address : (plan.clippedFrom ?? plan.videoId),
      isJoined: cloned?.isJoined === true,
      startedAtMs: clock.nowMs(),
    } as const;
    await store.begin(source, transaction);
    const { kind } = plan;
    if (kind === 'copied') {
      const completion = { status: 'ingested', bytes: plan.bytes, atMs: clock.nowMs() } as const;
      await store.complete(videoId, completion, transaction);
      if (!(await plan.store(transaction))) await this.#options.sourceReady(videoId, transaction);
      return;
    }
    const order = kind === 'fetch' ? { groupId: plan.projectId } : { priority: clonePriority };
    await jobs.add({ kind, subjectId: videoId, ...order }, transaction);
  }

  /** Runs in the transaction that restarts the source of a failed import. */
  async retry({ videoId, origin }: VideoSource, transaction: Transaction): Promise<void> {
    const { store, jobs } = this.#options;
    if (origin === 'url') {
      const groupId = await store.projectOf(videoId, transaction);
      await jobs.add({ kind: 'fetch', subjectId: videoId, groupId }, transaction);
    } else {
      const kind = (await store.clipOf(videoId)) === undefined ? 'clone' : 'clip';
      await jobs.add({ kind, subjectId: videoId, priority: clonePriority }, transaction);
    }
  }

  async abandon(plan: SourcePlan): Promise<void> {
    if (plan.kind === 'copied') await this.#options.broadcastClips.remove(plan.videoId);
  }

  /**
   * Returns the kinds of jobs. They use separate lanes: slow servers must not delay copies, and large copies must
   * not delay clips.
   */
  kinds(lanes: { readonly fetch: string; readonly clone: string; readonly clip: string }): JobKind[] {
    const onGiveUp: NonNullable<JobKind['onGiveUp']> = async (job, error, transaction) => {
      await this.#options.failSource(job.subjectId, failureReason(error), transaction);
    };
    return [
      {
        kind: 'fetch',
        lane: lanes.fetch,
        maxAttempts: maxFetchAttempts,
        run: job => this.#run(job, maxFetchAttempts, address => this.#fetch(job, address)),
        onGiveUp,
      },
      ...(['clone', 'clip'] as const).map(kind => ({
        kind,
        lane: lanes[kind],
        maxAttempts: maxCloneAttempts,
        onGiveUp,
        run: (job: RunningJob) => this.#run(job, maxCloneAttempts, from => this.#clone(job, from)),
      })),
    ];
  }

  async #checkAddress(source: string): Promise<string> {
    const url = URL.parse(source);
    if (url === null || !['http:', 'https:'].includes(url.protocol) || source.length > maxAddressChars) {
      throw attributeError('source', 'This is not a valid http or https URL.');
    }
    // Host names are resolved when fetching; literal addresses can be refused now.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) !== 0) {
      const { allowPrivateTargets: allowPrivate, resolve } = this.#options;
      const target = await resolveTarget(host, { allowPrivate, resolve });
      if (!target.accepted) throw attributeError('source', target.reason);
    }
    return url.href;
  }

  async #run(
    job: RunningJob,
    maxAttempts: number,
    importSource: (address: string) => Promise<ImportedSource>,
  ): Promise<void> {
    const { store, database, files, sourceReady, clock } = this.#options;
    const videoId = job.subjectId;
    const source = await store.source(videoId);
    if (source?.status !== 'ingesting' || source.address === undefined) return;
    let imported: ImportedSource;
    try {
      imported = await importSource(source.address);
    } catch (error) {
      const failure = toMachineError(error);
      const isFinal = failure instanceof AppError && failure.kind === 'invalid';
      const isOver =
        isFinal ||
        job.attempt >= maxAttempts ||
        (failure instanceof AppError && failure.code === 'disk-full');
      if (isOver) await files.removePartial(videoId);
      throw failure;
    }
    await files.removePartial(videoId);
    await database.transaction(async transaction => {
      await job.ensureOwned(transaction);
      const { bytes, clip } = imported;
      const completion = { status: 'ingested', bytes, atMs: clock.nowMs() } as const;
      if (!(await store.complete(videoId, completion, transaction))) return;
      if (clip !== undefined) {
        await store.setClip(videoId, clip.rest, transaction);
        if (await clip.store(transaction)) return;
      }
      await sourceReady(videoId, transaction);
    });
    // Deleted or expired meanwhile.
    if (await store.isGone(videoId)) await files.removeSource(videoId);
  }

  async #fetch(job: RunningJob, address: string): Promise<ImportedSource> {
    const { store, files, quotas, clock } = this.#options;
    const { sourceTimeoutMs, stallTimeoutMs, minRate, allowPrivateTargets, resolve } = this.#options;
    const projectId = await store.projectOf(job.subjectId);
    const startedAtMs = (await store.source(job.subjectId))?.startedAtMs ?? clock.nowMs();
    const remainingMs = startedAtMs + sourceTimeoutMs() - clock.nowMs();
    if (remainingMs <= 0) throw new AppError('source-unreachable', 'Fetching the source took too long.');
    const timeout = AbortSignal.timeout(Math.min(remainingMs, 2 ** 31 - 1));
    try {
      const bytes = await fetchSource(address, files.partial(job.subjectId), {
        allowPrivateTargets,
        resolve,
        stallTimeoutMs,
        minRate,
        maxBytes: maxSourceBytes,
        checkRoom: async bytes => {
          if (projectId !== undefined) await quotas.requireStorage(projectId, bytes);
          await files.expectRoom(bytes);
        },
        signal: AbortSignal.any([job.signal, timeout]),
        report: (received, total) => total !== undefined && job.reportProgress((100 * received) / total),
      });
      await files.publishPartial(job.subjectId, job.signal);
      return { bytes };
    } catch (error) {
      if (timeout.aborted && !job.signal.aborted) {
        throw new AppError('source-unreachable', 'Fetching the source took too long.', { cause: error });
      }
      const isOfOrigin = !(error instanceof AppError) && !isFileError(error);
      const isEmpty = isOfOrigin && (await fileBytes(files.partial(job.subjectId))) === 0;
      if (job.attempt < maxEmptyAttempts || job.signal.aborted || !isEmpty) throw error;
      throw new AppError(
        'source-unreachable',
        `No data arrived in ${job.attempt} attempts: ${messageOf(error)}. Check the address, or upload the file.`,
        { cause: error },
      );
    }
  }

  async #clone(job: RunningJob, fromVideoId: string): Promise<ImportedSource> {
    const { files, store } = this.#options;
    const clip = await store.clipOf(job.subjectId);
    if (clip !== undefined) return this.#cut(job, fromVideoId, clip);
    if ((await store.source(fromVideoId))?.status === 'assembling') {
      throw new Error('the chunks of the video to copy are still being put together');
    }
    try {
      await files.copyToSource(files.source(fromVideoId), job.subjectId, job.signal);
      const bytes = await files.sourceBytes(job.subjectId);
      if (bytes === undefined) throw new Error('the copy was removed');
      return { bytes };
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      throw new AppError('media-refused', 'The video to copy was deleted.', { cause: error });
    }
  }

  async #cut(
    { subjectId, signal }: RunningJob,
    videoId: string,
    { startMs, endMs, precision }: ClipRange & { readonly precision: 'keyframe' | 'frame' },
  ): Promise<ImportedSource> {
    const { files, clips, quotas, store } = this.#options;
    await files.checkRoom(0);
    const range = { startSeconds: startMs / 1000, endSeconds: endMs / 1000 };
    const target = { videoId: subjectId, path: files.partial(subjectId), isExact: precision === 'frame' };
    const made = await clips.clipVideo({ videoId, range }, target, signal);
    try {
      const projectId = await store.projectOf(subjectId);
      if (projectId !== undefined) await quotas.requireStorage(projectId, made.bytes);
      await files.publishPartial(subjectId, signal);
      const rest = remainingClip({ startMs, endMs }, target, made);
      return { bytes: made.bytes, clip: { rest, store: await made.prepare(signal) } };
    } catch (error) {
      await made.discard();
      throw error;
    }
  }
}

async function fileBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

function isFileError(error: unknown): boolean {
  return isDiskFull(error) || (error instanceof Error && 'path' in error);
}

/** Hides errors of files, which name paths of this machine. */
function failureReason(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return isFileError(error)
    ? 'The source could not be stored.'
    : `The source could not be fetched: ${messageOf(error)}.`;
}
