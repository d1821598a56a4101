import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { FreeSpaceWatch, SpaceLevel } from '../../storage/free-space-watch.ts';
import type { VodContext } from '../vod-context.ts';
import { recordingFolders } from './left-recording.ts';
import { idsOf, OrphanedRecordings } from './orphaned-recordings.ts';
import type { NewRecording, RecordingRepository } from './recording-repository.ts';
import { maxLagSeconds, RecordingUpload } from './recording-upload.ts';
import {
  createIndex,
  type IndexFolder,
  makeRecordingVideo,
  type RecordingContext,
} from './recording-video.ts';
import {
  type RecordablePart,
  RecordingWriter,
  type RecordingWriterOptions,
  type SharedFiles,
  type StopReason,
  type WrittenRecording,
} from './recording-writer.ts';

interface ContinuedRecording {
  readonly videoId: string;
  readonly startedAtMs: number;
  readonly firstSpan: number;
}

interface RecordingsOptions {
  readonly context: VodContext;
  readonly repository: RecordingRepository;
  readonly minFreeBytes: number;
  readonly hasSeekTables: boolean;
  readonly freeSpace: FreeSpaceWatch;
  readonly mayStore?: (projectId: string) => Promise<boolean>;
  readonly observer: {
    written(bytes: number): void;
    stopped(reason: StopReason): void;
  };
  readonly maxQueuedBytes?: number;
}

interface OpenRecording {
  readonly recording: NewRecording;
  /** False when it may not be recorded. Never rejects. */
  readonly opened: Promise<boolean>;
  readonly writer: RecordingWriter;
  readonly onStopped: () => void;
  /** Undefined with the data folder. */
  readonly upload: RecordingUpload | undefined;
  /** True while the upload is more than {@link maxLagSeconds} behind. */
  isBehind: boolean;
  /** True when other files of the recording are, or may be, on another server. */
  isShared: boolean;
  indexFolder: IndexFolder | undefined;
  probing: Promise<ProbedFile | undefined> | undefined;
  reason: StopReason | undefined;
  finishing: Promise<void> | undefined;
}

const checkEveryMs = 3_000;
/** A crash loses this much. All recordings are written at once, so that the writes share their wake-ups. */
const flushEveryMs = 500;
/** Probes early, so that finishing the recording need not wait for that. */
const probeAfterSeconds = 1;
const probeTimeoutMs = 60_000;
const retryDelayMs = 30_000;
const stopWaitMs = 1_000;
const maxUploads = 4;
/** Maximum concurrent uploads of recordings that are behind. */
const maxCatchUpUploads = 12;
/** Longest wait for the upload of the rest of a recording that another server may continue. */
const maxUploadMs = 10_000;
const stopCauses = {
  'disk-low': 'the disk is full',
  'disk-slow': 'the disk is too slow',
  'disk-error': 'the disk fails',
  'storage-limit': 'the project may not store any more',
};

export class Recordings implements Component {
  readonly name = 'recordings';
  readonly #options: RecordingsOptions;
  readonly #context: RecordingContext;
  readonly #log: Logger;
  readonly #open = new Map<string, OpenRecording>();
  readonly #orphaned: OrphanedRecordings;
  readonly #space: SpaceLevel;
  readonly #stopping = new AbortController();
  readonly #uploads = {
    turns: new ConcurrencyLimit(maxUploads),
    catchUpTurns: new ConcurrencyLimit(maxCatchUpUploads),
  };
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  readonly #checks = new OnDemandInterval(checkEveryMs, () => this.#checkAgain());
  #checking: Promise<void> | undefined;
  readonly #flushes = new OnDemandInterval(flushEveryMs, () => this.#flush());
  #stopListening = () => {};

  constructor(options: RecordingsOptions) {
    this.#options = options;
    const { context, repository, hasSeekTables, minFreeBytes, freeSpace } = options;
    this.#context = { context, repository, hasSeekTables };
    this.#log = context.log.child('recordings');
    this.#space = freeSpace.watch(minFreeBytes, (...changed) => this.#spaceChanged(...changed));
    this.#orphaned = new OrphanedRecordings(
      this.#context,
      this.#log,
      this.#stopping.signal,
      (...finished) => this.#logClosed(...finished),
      videoId => this.#open.has(videoId),
    );
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Lag of the recording whose upload is furthest behind. */
  get uploadLagSeconds(): number {
    return Math.max(0, ...[...this.#open.values()].map(({ upload }) => upload?.lagSeconds ?? 0));
  }

  /** Finishes recordings that a crash left open. Must run before any broadcast starts. */
  async start(): Promise<void> {
    await this.#findOrphaned();
    await this.#findLeft();
    await this.#check();
    void this.finishOrphaned();
    this.#checks.wake();
    this.#stopListening = this.#options.repository.onTakenOver(() => {
      this.#finishTakenOver().catch(error => this.#log.error('recordings-not-read', { error }));
    });
  }

  async drain(): Promise<void> {
    await this.#finishAll();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    this.#checks.stop();
    this.#flushes.stop();
    await within(stopWaitMs, Promise.all([this.#checking, this.#finishAll()]));
    this.#stopping.abort();
    await within(stopWaitMs, Promise.all([this.finishOrphaned(), this.#finishAll()]));
  }

  finishOrphaned(): Promise<void> {
    return this.#orphaned.finishAll();
  }

  /** Has all servers finish what a server recorded that is gone. Does nothing unless servers share their files. */
  async takeOver(nodeId: string): Promise<void> {
    const { context, repository } = this.#options;
    if (context.files.storage.kind === 'data-folder') return;
    await repository.takeOver(nodeId);
    await this.#finishTakenOver();
  }

  async #finishTakenOver(): Promise<void> {
    await this.#findOrphaned();
    void this.finishOrphaned();
    this.#checks.wake();
  }

  /**
   * Undefined without disk space, and after a disk failure. Takes parts at once, and writes them when the recording is
   * stored. `onStopped`: it stopped before it was closed, or was never stored, because the project may not store any
   * more or the live stream was deleted.
   */
  open(
    broadcast: Pick<NewRecording, 'projectId' | 'liveStreamId' | 'broadcastId'> & {
      readonly recording?: ContinuedRecording | undefined;
    },
    onStopped: () => void,
    sharedFiles?: SharedFiles,
  ): { add(part: RecordablePart): void; close(hasMoved?: boolean): void } | undefined {
    const { clock } = this.#options.context;
    const { projectId, liveStreamId, broadcastId, recording: continued } = broadcast;
    if (!this.#space.hasSpace || clock.monotonicMs() < this.#notBeforeMs) return undefined;
    const recording = {
      videoId: continued?.videoId ?? newId('vi'),
      projectId,
      liveStreamId,
      broadcastId,
      startedAtMs: continued?.startedAtMs ?? clock.nowMs(),
    };
    const opened = this.#store(recording, continued !== undefined);
    const entry: OpenRecording = {
      recording,
      opened,
      onStopped,
      upload: this.#createUpload(recording),
      writer: this.#createWriter(recording, opened, () => entry, { sharedFiles, ...continued }),
      isShared: continued !== undefined,
      isBehind: false,
      indexFolder: undefined,
      probing: undefined,
      reason: undefined,
      finishing: undefined,
    };
    this.#open.set(recording.videoId, entry);
    // The disk may have filled up since the last check.
    this.#checkAgain();
    this.#checks.wake();
    this.#flushes.wake();
    void opened.then(isOpened => {
      if (isOpened || entry.finishing !== undefined || entry.reason !== undefined) return;
      onStopped();
      void this.#finish(entry);
    });
    const close = (hasMoved = false) => {
      entry.isShared ||= hasMoved && entry.upload !== undefined;
      void this.#finish(entry);
    };
    return { add: part => entry.writer.add(part), close };
  }

  async #findOrphaned(): Promise<void> {
    const orphaned = (await this.#options.repository.unfinished()).filter(
      ({ videoId }) => !this.#open.has(videoId),
    );
    for (const recording of orphaned) {
      this.#orphaned.add({ videoId: recording.videoId, recording, reason: undefined });
    }
    if (orphaned.length > 0) this.#log.warn('recordings-orphaned', { count: orphaned.length });
  }

  /** Files of recordings that another server took over when this one was gone. */
  async #findLeft(): Promise<void> {
    const { files } = this.#options.context;
    if (files.storage.kind === 'data-folder') return;
    for (const videoId of await recordingFolders(files)) {
      this.#orphaned.add({ videoId, recording: undefined, reason: undefined });
    }
  }

  async #store(recording: NewRecording, isContinued: boolean): Promise<boolean> {
    const { context, repository } = this.#options;
    try {
      if (!(await this.#mayStore(recording.projectId))) return false;
      const isOpen = isContinued
        ? await repository.isOpen(recording.videoId)
        : await repository.open(recording);
      if (!isOpen) return false;
      this.#log.info(isContinued ? 'recording-continued' : 'recording-opened', { ...idsOf(recording) });
      return true;
    } catch (error) {
      this.#log.error('recording-not-opened', { ...idsOf(recording), error });
      this.#notBeforeMs = context.clock.monotonicMs() + retryDelayMs;
      return false;
    }
  }

  #createUpload(recording: NewRecording): RecordingUpload | undefined {
    const { storage } = this.#options.context.files;
    if (storage.kind === 'data-folder') return undefined;
    return new RecordingUpload({ storage, ...this.#uploads, ids: idsOf(recording), log: this.#log });
  }

  #createWriter(
    { videoId }: NewRecording,
    opened: Promise<boolean>,
    entryOf: () => OpenRecording,
    files: Pick<RecordingWriterOptions, 'sharedFiles' | 'firstSpan'>,
  ): RecordingWriter {
    const { context, observer, maxQueuedBytes } = this.#options;
    return new RecordingWriter({
      folder: context.files.video(videoId),
      opened,
      makeIndex: async (tracks: readonly TrackDescription[]) => {
        const { index, folder } = await createIndex(context, videoId, tracks);
        entryOf().indexFolder = folder;
        return index;
      },
      ...files,
      onStopped: (reason, error) => this.#failed(entryOf(), reason, error),
      onWritten: (bytes, span, firstPath) => {
        observer.written(bytes);
        entryOf().upload?.written(span);
        const hasAllTracks = span.startedTracks.length === span.tracks.length;
        if (span.seconds >= probeAfterSeconds && hasAllTracks) entryOf().probing ??= this.#probe(firstPath);
      },
      ...(maxQueuedBytes === undefined ? {} : { maxQueuedBytes }),
    });
  }

  async #probe(path: string): Promise<ProbedFile | undefined> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(probeTimeoutMs), this.#stopping.signal]);
      return await this.#options.context.tools.probe(path, signal);
    } catch {
      // Finishing the recording probes it again, and reports the error.
      return undefined;
    }
  }

  #failed(entry: OpenRecording, reason: StopReason, error: unknown): void {
    this.#notBeforeMs = this.#options.context.clock.monotonicMs() + retryDelayMs;
    this.#log.error('recording-stopped', {
      ...idsOf(entry.recording),
      reason,
      because: stopCauses[reason],
      ...(error === undefined ? {} : { error }),
    });
    this.#stop(entry, reason);
  }

  #stop(entry: OpenRecording, reason: StopReason): void {
    if (entry.finishing !== undefined) return;
    entry.reason = reason;
    this.#options.observer.stopped(reason);
    entry.onStopped();
    // The writer may be the caller.
    queueMicrotask(() => void this.#finish(entry));
  }

  #finish(entry: OpenRecording): Promise<void> {
    entry.finishing ??= this.#finishOnce(entry);
    return entry.finishing;
  }

  async #finishOnce(entry: OpenRecording): Promise<void> {
    const { recording, writer } = entry;
    const { videoId } = recording;
    const { repository, context } = this.#options;
    const { signal } = this.#stopping;
    const startedMs = context.clock.monotonicMs();
    if (!(await entry.opened)) {
      await writer.finish();
      this.#open.delete(videoId);
      return;
    }
    try {
      await repository.close(videoId);
    } catch (error) {
      this.#log.warn('recording-close-not-stored', { ...idsOf(recording), error });
    }
    const written = await writer.finish();
    if (entry.isShared) {
      await this.#leave(entry, written);
      return;
    }
    await entry.upload?.stop();
    try {
      const probed = await entry.probing;
      const { indexFolder, reason } = entry;
      const end = { indexFolder, probed, reason, signal };
      const isVideo = await makeRecordingVideo(this.#context, recording, written, end);
      this.#logClosed(recording, isVideo, context.clock.monotonicMs() - startedMs);
      // Lets another server, which may have taken the recording over, finish it with its last pieces.
      if (!isVideo && entry.upload !== undefined) {
        this.#orphaned.add({ videoId: recording.videoId, recording, reason: entry.reason });
        this.#checks.wake();
      }
    } catch (error) {
      if (signal.aborted) {
        this.#log.warn('recording-left-unfinished', idsOf(recording));
        return;
      }
      this.#log.error('recording-unfinished', { ...idsOf(recording), error });
      this.#orphaned.addFailed({ videoId: recording.videoId, recording, reason: entry.reason });
    } finally {
      this.#open.delete(videoId);
    }
  }

  /**
   * Leaves the recording open. When its broadcast has ended, one of the servers finishes it with the files of all.
   */
  async #leave({ recording, upload, reason }: OpenRecording, { index }: WrittenRecording): Promise<void> {
    await index?.close().catch(() => {});
    await within(maxUploadMs, upload?.finish() ?? Promise.resolve());
    await upload?.stop();
    this.#orphaned.add({
      videoId: recording.videoId,
      recording,
      reason,
      isStored: upload?.isStored === true,
    });
    this.#open.delete(recording.videoId);
    this.#checks.wake();
    void this.finishOrphaned();
  }

  async #finishAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map(entry => this.#finish(entry)));
  }

  #logClosed(recording: NewRecording, isVideo: boolean, ms: number): void {
    this.#log.info('recording-closed', { ...idsOf(recording), isVideo, ms: Math.round(ms) });
  }

  async #mayStore(projectId: string): Promise<boolean> {
    return (await this.#options.mayStore?.(projectId)) ?? true;
  }

  async #mayContinue({ recording }: OpenRecording): Promise<boolean> {
    try {
      return await this.#mayStore(recording.projectId);
    } catch (error) {
      this.#log.warn('recording-limit-unknown', { ...idsOf(recording), error });
      return true;
    }
  }

  #flush(): boolean {
    for (const { writer } of this.#open.values()) writer.flush();
    return this.#open.size > 0;
  }

  #checkAgain(): boolean {
    void this.finishOrphaned();
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#open.size > 0 || this.#orphaned.count > 0 || !this.#space.hasSpace;
  }

  async #check(): Promise<void> {
    for (const entry of this.#open.values()) this.#checkLag(entry);
    await this.#options.freeSpace.check();
    for (const entry of this.#open.values()) {
      if (await this.#mayContinue(entry)) continue;
      this.#log.info('recording-stopped', { ...idsOf(entry.recording), reason: 'storage-limit' });
      this.#stop(entry, 'storage-limit');
    }
  }

  #checkLag(entry: OpenRecording): void {
    const lagSeconds = Math.round(entry.upload?.lagSeconds ?? 0);
    const isBehind = lagSeconds > maxLagSeconds;
    if (isBehind === entry.isBehind) return;
    entry.isBehind = isBehind;
    const data = { ...idsOf(entry.recording), lagSeconds };
    if (isBehind) this.#log.error('recording-upload-behind', data);
    else this.#log.info('recording-upload-recovered', data);
  }

  #spaceChanged(hasSpace: boolean, freeBytes: number): void {
    // Without space no recording starts, so only further checks notice new space.
    this.#checks.wake();
    const data = { freeBytes, minFreeBytes: this.#options.minFreeBytes };
    if (hasSpace) {
      this.#log.info('recording-disk-recovered', data);
      return;
    }
    this.#log.error('recording-disk-low', { ...data, open: this.#open.size });
    for (const entry of this.#open.values()) this.#stop(entry, 'disk-low');
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(ms, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
