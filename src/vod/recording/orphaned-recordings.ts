import type { Logger } from '../../shared/logger.ts';
import { storeLeftRecording, uploadLeftPieces } from './left-recording.ts';
import type { NewRecording } from './recording-repository.ts';
import {
  createIndex,
  type IndexFolder,
  makeRecordingVideo,
  type RecordingContext,
} from './recording-video.ts';
import type { StopReason } from './recording-writer.ts';
import { restoreRecording } from './restore-recording.ts';
import { scanRecording } from './scan-recording.ts';

interface OrphanedRecording {
  readonly videoId: string;
  /** Undefined when only files are known: another server goes on with the recording, or has finished it. */
  readonly recording: NewRecording | undefined;
  readonly reason: StopReason | undefined;
  /** True when the storage has all that this server has of the recording. */
  readonly isStored?: boolean;
}

interface Pending extends OrphanedRecording {
  readonly failures: number;
  readonly notBeforeMs: number;
}

const firstRetryDelayMs = 30_000;
const maxRetryDelayMs = 3_600_000;

/** Works in the background: reading the fragment headers of 12 hours takes a while. */
export class OrphanedRecordings {
  readonly #context: RecordingContext;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #finished: (recording: NewRecording, isVideo: boolean, ms: number) => void;
  readonly #isRecording: (videoId: string) => boolean;
  readonly #pending = new Map<string, Pending>();
  #work: Promise<void> | undefined;

  constructor(
    context: RecordingContext,
    log: Logger,
    signal: AbortSignal,
    finished: (recording: NewRecording, isVideo: boolean, ms: number) => void,
    isRecording: (videoId: string) => boolean,
  ) {
    this.#context = context;
    this.#isRecording = isRecording;
    this.#log = log;
    this.#signal = signal;
    this.#finished = finished;
  }

  get count(): number {
    return this.#pending.size;
  }

  add(orphaned: OrphanedRecording): void {
    if (this.#pending.get(orphaned.videoId)?.recording !== undefined) return;
    this.#pending.set(orphaned.videoId, { ...orphaned, failures: 0, notBeforeMs: 0 });
  }

  addFailed(left: OrphanedRecording): void {
    this.#retryLater({ ...left, failures: 0, notBeforeMs: 0 });
  }

  finishAll(): Promise<void> {
    this.#work ??= this.#finishEach().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  async #finishEach(): Promise<void> {
    const { context, repository } = this.#context;
    for (const one of [...this.#pending.values()]) {
      if (this.#signal.aborted) return;
      if (context.clock.monotonicMs() < one.notBeforeMs) continue;
      const { videoId, recording } = one;
      const startedMs = context.clock.monotonicMs();
      try {
        if (this.#isRecording(videoId)) continue;
        if (recording !== undefined && (await repository.mayContinue(recording))) continue;
        // The list has no folders of another server, which may take the recording over at any time.
        const foldersBefore = await context.folders.list(videoId);
        if (recording === undefined || !(await repository.isOpen(videoId))) {
          await this.#leave(one);
          continue;
        }
        const isVideo = await this.#finish(recording, one.reason, foldersBefore);
        this.#pending.delete(videoId);
        this.#log.warn('recording-recovered', { ...idsOf(recording), isVideo });
        this.#finished(recording, isVideo, context.clock.monotonicMs() - startedMs);
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#retryLater(one);
        this.#log.error('recording-unfinished', {
          ...(recording === undefined ? { videoId } : idsOf(recording)),
          error,
        });
      }
    }
  }

  async #finish(
    recording: NewRecording,
    reason: StopReason | undefined,
    unusedFolders: string[],
  ): Promise<boolean> {
    const { context } = this.#context;
    const { videoId } = recording;
    let indexFolder: IndexFolder | undefined;
    await context.folders.removeUnused(videoId, unusedFolders, undefined);
    if (context.files.storage.kind === 's3') await restoreRecording(context.files, videoId, this.#signal);
    const written = await scanRecording(
      context.files.video(videoId),
      async tracks => {
        const created = await createIndex(context, videoId, tracks);
        indexFolder = created.folder;
        return created.index;
      },
      this.#signal,
    );
    const end = { indexFolder, probed: undefined, reason, signal: this.#signal };
    return makeRecordingVideo(this.#context, recording, written, end);
  }

  /** Leaves the recording to another server, which finishes it, or has done so, with what is in the storage. */
  async #leave(one: Pending): Promise<void> {
    const { context, repository } = this.#context;
    const { files } = context;
    const { videoId } = one;
    if (files.storage.kind === 's3') {
      if (await repository.exists(videoId)) {
        await uploadLeftPieces(files, videoId, this.#signal);
        this.#retryLater({ ...one, isStored: true });
        return;
      }
      const isStored = one.isStored === true;
      await storeLeftRecording(this.#context, { videoId, isStored }, this.#signal);
    }
    this.#pending.delete(videoId);
  }

  #retryLater(one: Pending): void {
    const delayMs = Math.min(maxRetryDelayMs, firstRetryDelayMs * 2 ** one.failures);
    this.#pending.set(one.videoId, {
      ...one,
      failures: one.failures + 1,
      notBeforeMs: this.#context.context.clock.monotonicMs() + delayMs,
    });
  }
}

export function idsOf({ videoId, liveStreamId, broadcastId }: NewRecording) {
  return { videoId, liveStreamId, broadcastId };
}
