import type { Logger } from '../../shared/logger.ts';
import type { NewRecording } from './recording-repository.ts';
import {
  beginIndex,
  type IndexFolder,
  makeRecordingVideo,
  type RecordingContext,
} from './recording-video.ts';
import type { StopReason } from './recording-writer.ts';
import { scanRecording } from './scan-recording.ts';

/** A recording that is not a video yet. */
export interface OrphanedRecording {
  readonly recording: NewRecording;
  /** Why it ended before its broadcast did. */
  readonly reason: StopReason | undefined;
}

interface Waiting extends OrphanedRecording {
  readonly failures: number;
  readonly notBeforeMs: number;
}

/** What failed is tried again so much later, then after twice as long, and so on. */
const firstRetryDelayMs = 30_000;
const maxRetryDelayMs = 3_600_000;

/**
 * Recordings that nobody finished, since the server ended before that or something failed. They are finished of what is on the disk, one
 * after the other and beside everything else, which waits for none of it: reading through the heads of 12 hours takes a while.
 */
export class OrphanedRecordings {
  readonly #desk: RecordingContext;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #finished: (recording: NewRecording, isVideo: boolean, ms: number) => void;
  readonly #waiting = new Map<string, Waiting>();
  #work: Promise<void> | undefined;

  /**
   * @param signal ends the work; what is left then is left for the next start
   * @param finished told of each that is finished, and of how long that took
   */
  constructor(
    desk: RecordingContext,
    log: Logger,
    signal: AbortSignal,
    finished: (recording: NewRecording, isVideo: boolean, ms: number) => void,
  ) {
    this.#desk = desk;
    this.#log = log;
    this.#signal = signal;
    this.#finished = finished;
  }

  /** The number of recordings that wait to be finished. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Adds one that is tried with the next {@link finishAll}. */
  add({ recording, reason }: OrphanedRecording): void {
    this.#waiting.set(recording.videoId, { recording, reason, failures: 0, notBeforeMs: 0 });
  }

  /** Adds one that could not be finished just now. */
  addFailed(left: OrphanedRecording): void {
    this.#rest({ ...left, failures: 0, notBeforeMs: 0 });
  }

  /** Finishes those whose time it is; resolves when that is done, or was ended. Never rejects. */
  finishAll(): Promise<void> {
    this.#work ??= this.#finishEach().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  async #finishEach(): Promise<void> {
    const { context, book } = this.#desk;
    for (const one of [...this.#waiting.values()]) {
      if (this.#signal.aborted) return;
      if (context.clock.monotonicMs() < one.notBeforeMs) continue;
      const { recording } = one;
      const startedMs = context.clock.monotonicMs();
      try {
        const isVideo = book.isOpen(recording.videoId) ? await this.#finish(one) : undefined;
        this.#waiting.delete(recording.videoId);
        if (isVideo === undefined) continue;
        this.#log.warn('recording-recovered', { ...idsOf(recording), isVideo });
        this.#finished(recording, isVideo, context.clock.monotonicMs() - startedMs);
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#rest(one);
        this.#log.error('recording-unfinished', { ...idsOf(recording), error });
      }
    }
  }

  async #finish({ recording, reason }: OrphanedRecording): Promise<boolean> {
    const { context } = this.#desk;
    const { videoId } = recording;
    let place: IndexFolder | undefined;
    // Of an index that was begun, only the folder would stay.
    await context.folders.removeUnused(videoId, undefined);
    const written = await scanRecording(
      context.files.video(videoId),
      async tracks => {
        const begun = await beginIndex(context, videoId, tracks);
        place = begun.place;
        return begun.index;
      },
      this.#signal,
    );
    const end = { place, probed: undefined, reason, signal: this.#signal };
    return makeRecordingVideo(this.#desk, recording, written, end);
  }

  #rest(one: Waiting): void {
    const restMs = Math.min(maxRetryDelayMs, firstRetryDelayMs * 2 ** one.failures);
    this.#waiting.set(one.recording.videoId, {
      ...one,
      failures: one.failures + 1,
      notBeforeMs: this.#desk.context.clock.monotonicMs() + restMs,
    });
  }
}

/** What log lines of a recording carry. */
export function idsOf({ videoId, liveStreamId, broadcastId }: NewRecording) {
  return { videoId, liveStreamId, broadcastId };
}
