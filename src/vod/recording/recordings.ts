import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { FreeDiskSpace } from '../../storage/media-files.ts';
import type { VodContext } from '../vod-context.ts';
import { idsOf, OrphanedRecordings } from './orphaned-recordings.ts';
import type { NewRecording, RecordingRepository } from './recording-repository.ts';
import {
  beginIndex,
  type IndexFolder,
  makeRecordingVideo,
  type RecordingContext,
} from './recording-video.ts';
import { type RecordablePart, RecordingWriter, type StopReason } from './recording-writer.ts';

/** What recordings are made with. */
export interface RecordingsOptions {
  readonly context: VodContext;
  readonly book: RecordingRepository;
  /** Room on the disk below which recordings stop. */
  readonly minFreeBytes: number;
  /** As {@link RecordingContext} has it. */
  readonly hasSeekTables: boolean;
  readonly freeBytes: () => Promise<number>;
  /** Frees room before recordings stop; nothing can go unless given. */
  readonly makeRoom?: FreeDiskSpace;
  /** Tells whether a project may store more; all may unless given. */
  readonly mayStore?: (projectId: string) => boolean;
  readonly observer: {
    written(bytes: number): void;
    stopped(reason: StopReason): void;
  };
  /** Of the writers' queues; as theirs unless given. */
  readonly maxQueuedBytes?: number;
}

interface Open {
  readonly recording: NewRecording;
  readonly writer: RecordingWriter;
  /** Tells the recorder that no more parts are taken. */
  readonly onStopped: () => void;
  place: IndexFolder | undefined;
  /** What its file is, as far as its beginning says; undefined where that could not be told. */
  probing: Promise<ProbedFile | undefined> | undefined;
  reason: StopReason | undefined;
  finishing: Promise<void> | undefined;
}

const lookEveryMs = 3_000;
/** The file of a recording is looked into once there is so much of it, so that nobody waits for that in the end. */
const probedAfterSeconds = 1;
const probeTimeoutMs = 60_000;
/** After a disk failed, recordings begin again this much later. */
const restMs = 30_000;
/** A stop waits so long for recordings that are being finished; the next start finishes what is left. */
const stopWaitMs = 1_000;
/** Recordings begin again when so much more than the least is free, so that they do not begin and stop in turns. */
const roomAgainShare = 0.1;
const roomAgainAtLeastBytes = 64 * 1024 * 1024;

/** All recordings: those that are being made, what of them becomes videos, and the room for them on the disk. */
export class Recordings implements Component {
  readonly name = 'recordings';
  readonly #options: RecordingsOptions;
  readonly #desk: RecordingContext;
  readonly #log: Logger;
  readonly #open = new Map<string, Open>();
  readonly #left: OrphanedRecordings;
  /** Aborted when what is not finished is left for the next start. */
  readonly #leaving = new AbortController();
  #hasRoom = true;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  readonly #looks = new OnDemandInterval(lookEveryMs, () => this.#lookAgain());
  #looking: Promise<void> | undefined;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    const { context, book, hasSeekTables } = options;
    this.#desk = { context, book, hasSeekTables };
    this.#log = options.context.log.child('recordings');
    this.#left = new OrphanedRecordings(this.#desk, this.#log, this.#leaving.signal, (...finished) =>
      this.#tellClosed(...finished),
    );
  }

  /** How many are being made. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Begins to make videos of the recordings that a crash left open, and to look after the room on the disk. Before any broadcast is taken. */
  async start(): Promise<void> {
    const left = this.#options.book.unfinished();
    for (const recording of left) this.#left.add({ recording, reason: undefined });
    if (left.length > 0) this.#log.warn('recordings-left-by-a-crash', { count: left.length });
    await this.#look();
    void this.finishOrphaned();
    this.#looks.wake();
  }

  /** Waits for the recordings of broadcasts that have ended. */
  async drain(): Promise<void> {
    await this.#finishAll();
  }

  /** Waits a moment for them; the next start finishes what is left then. */
  async stop(): Promise<void> {
    this.#looks.stop();
    await within(stopWaitMs, Promise.all([this.#looking, this.#finishAll()]));
    this.#leaving.abort();
    await within(stopWaitMs, Promise.all([this.finishOrphaned(), this.#finishAll()]));
  }

  /** Finishes what was left of recordings, as far as it is time to try; resolves when that is done. Never rejects. */
  finishOrphaned(): Promise<void> {
    return this.#left.finishAll();
  }

  /**
   * Begins a recording of a broadcast; undefined while there is no room for one, the disk has just failed, its project may not store any
   * more, or its live stream is gone.
   *
   * @param onStopped it takes no more parts, by itself
   */
  open(
    {
      projectId,
      liveStreamId,
      broadcastId,
    }: Pick<NewRecording, 'projectId' | 'liveStreamId' | 'broadcastId'>,
    onStopped: () => void,
  ): { add(part: RecordablePart): void; close(): void } | undefined {
    const { context, book, observer, maxQueuedBytes } = this.#options;
    const { clock, files } = context;
    if (!this.#mayStore(projectId)) return undefined;
    if (!this.#hasRoom || clock.monotonicMs() < this.#notBeforeMs) return undefined;
    const videoId = newId('vi');
    const recording = { videoId, projectId, liveStreamId, broadcastId, startedAtMs: clock.nowMs() };
    try {
      if (!book.open(recording)) return undefined;
    } catch (error) {
      this.#log.error('recording-not-opened', { ...idsOf(recording), error });
      this.#notBeforeMs = clock.monotonicMs() + restMs;
      return undefined;
    }
    const writer = new RecordingWriter({
      folder: files.video(videoId),
      makeIndex: tracks => this.#makeIndex(entry, tracks),
      onStopped: (reason, error) => this.#failed(entry, reason, error),
      onWritten: (bytes, seconds, path) => {
        observer.written(bytes);
        if (seconds >= probedAfterSeconds) entry.probing ??= this.#probe(path);
      },
      ...(maxQueuedBytes === undefined ? {} : { maxQueuedBytes }),
    });
    const entry: Open = {
      ...{ recording, writer, onStopped },
      ...{ place: undefined, probing: undefined, reason: undefined, finishing: undefined },
    };
    this.#open.set(videoId, entry);
    // The disk may have filled up since the last look.
    this.#lookAgain();
    this.#looks.wake();
    this.#log.info('recording-opened', { ...idsOf(recording) });
    return { add: part => writer.add(part), close: () => void this.#finish(entry) };
  }

  async #makeIndex(entry: Pick<Open, 'recording' | 'place'>, tracks: readonly TrackDescription[]) {
    const { index, place } = await beginIndex(this.#options.context, entry.recording.videoId, tracks);
    entry.place = place;
    return index;
  }

  async #probe(path: string): Promise<ProbedFile | undefined> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(probeTimeoutMs), this.#leaving.signal]);
      return await this.#options.context.tools.probe(path, signal);
    } catch {
      // It is tried again in the end, and that says why.
      return undefined;
    }
  }

  #failed(entry: Open, reason: StopReason, error: unknown): void {
    this.#notBeforeMs = this.#options.context.clock.monotonicMs() + restMs;
    const text = {
      'disk-low': 'the disk is full',
      'disk-slow': 'the disk is too slow',
      'disk-error': 'the disk fails',
      'storage-limit': 'the project may not store any more',
    };
    this.#log.error('recording-stopped', {
      ...idsOf(entry.recording),
      ...{ reason, because: text[reason] },
      ...(error === undefined ? {} : { error }),
    });
    this.#stop(entry, reason);
  }

  /** Ends a recording before its broadcast ends. */
  #stop(entry: Open, reason: StopReason): void {
    if (entry.finishing !== undefined) return;
    entry.reason = reason;
    this.#options.observer.stopped(reason);
    entry.onStopped();
    // What is told of it may come from inside its own writing.
    queueMicrotask(() => void this.#finish(entry));
  }

  #finish(entry: Open): Promise<void> {
    entry.finishing ??= this.#finishOnce(entry);
    return entry.finishing;
  }

  async #finishOnce(entry: Open): Promise<void> {
    const { recording, writer } = entry;
    const { videoId } = recording;
    const { book, context } = this.#options;
    const { signal } = this.#leaving;
    const startedMs = context.clock.monotonicMs();
    try {
      book.close(videoId);
    } catch (error) {
      // What it takes from its live stream stays as it was when it began.
      this.#log.warn('recording-not-noted', { ...idsOf(recording), error });
    }
    // Never rejects: nothing is written to its files any more, whatever fails then.
    const written = await writer.finish();
    try {
      const { place, reason } = entry;
      const probed = await entry.probing;
      const end = { place, probed, reason, signal };
      const isVideo = await makeRecordingVideo(this.#desk, recording, written, end);
      this.#tellClosed(recording, isVideo, context.clock.monotonicMs() - startedMs);
    } catch (error) {
      if (signal.aborted) {
        this.#log.warn('recording-left', idsOf(recording));
        return;
      }
      this.#log.error('recording-unfinished', { ...idsOf(recording), error });
      this.#left.addFailed({ recording, reason: entry.reason });
    } finally {
      this.#open.delete(videoId);
    }
  }

  async #finishAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map(entry => this.#finish(entry)));
  }

  #tellClosed(recording: NewRecording, isVideo: boolean, ms: number): void {
    this.#log.info('recording-closed', { ...idsOf(recording), isVideo, ms: Math.round(ms) });
  }

  #mayStore(projectId: string): boolean {
    return this.#options.mayStore?.(projectId) ?? true;
  }

  #stopBeyondQuotas(): void {
    for (const entry of this.#open.values()) {
      if (this.#mayStore(entry.recording.projectId)) continue;
      this.#log.info('recording-stopped', { ...idsOf(entry.recording), reason: 'storage-limit' });
      this.#stop(entry, 'storage-limit');
    }
  }

  /** Tries what was left and looks at the disk. Returns whether there is a reason to do so again. */
  #lookAgain(): boolean {
    void this.finishOrphaned();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#open.size > 0 || this.#left.count > 0 || !this.#hasRoom;
  }

  /** Looks how much room there is; without enough, recordings stop. */
  async #look(): Promise<void> {
    this.#stopBeyondQuotas();
    const { freeBytes, minFreeBytes, makeRoom } = this.#options;
    const least = this.#hasRoom
      ? minFreeBytes
      : minFreeBytes + Math.max(roomAgainAtLeastBytes, minFreeBytes * roomAgainShare);
    let free: number;
    try {
      free = await freeBytes();
      if (minFreeBytes > 0 && free < least && makeRoom !== undefined) {
        await makeRoom(async () => least - (await freeBytes()));
        free = await freeBytes();
      }
    } catch (error) {
      this.#log.error('free-bytes-unknown', { error });
      return;
    }
    const hasRoom = minFreeBytes === 0 || free >= least;
    if (hasRoom === this.#hasRoom) return;
    this.#hasRoom = hasRoom;
    // No recording begins without room: only further looks notice that there is room again.
    this.#looks.wake();
    const data = { freeBytes: free, minFreeBytes };
    if (hasRoom) {
      this.#log.info('recording-room-again', data);
      return;
    }
    this.#log.error('recording-disk-low', { ...data, open: this.#open.size });
    for (const entry of this.#open.values()) this.#stop(entry, 'disk-low');
  }
}

/** Waits for work, but no longer than this. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
