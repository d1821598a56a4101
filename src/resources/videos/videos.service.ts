import { attributeError } from '../../http/routing/validation.ts';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import type { ListPage } from './lists/sorted-videos.store.ts';
import type { VideoFilter } from './lists/video-filter.ts';
import type { Video, VideoAttributes, VideoChanges } from './video.ts';
import type { VideoSourceImporter } from './video-source-importer.ts';
import { viewOf } from './video-view.ts';
import type { VideoView } from './videos.schema.ts';
import type { VideosStore } from './videos.store.ts';

/** What videos are kept with, and what the rest of the server does for them. */
export interface VideosOptions {
  readonly store: VideosStore;
  readonly privateTokens: PrivateTokens;
  /** Base of asset addresses, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly clock: Clock;
  /** For how many days a deleted video can be restored; 0 where it is gone at once. */
  readonly restoreDays: number;
  readonly sources: VideoSourceImporter;
  /** Whether a file is being received for a video just now. */
  readonly isReceiving: (videoId: string) => boolean;
  readonly watermarkExists: (projectId: string, watermarkId: string) => boolean;
  /** Puts a copy of a watermark's image beside a new video, in the transaction that makes the video. */
  readonly takeWatermark: (videoId: string, watermarkId: string) => void;
  readonly playerExists: (projectId: string, playerId: string) => boolean;
  /** Whether a theme that a video names is gone, so that it has none. */
  readonly isPlayerRemoved: (playerId: string) => boolean;
  /** Whether a video is to have an mp4 has changed. */
  readonly mp4Wished: (videoId: string, isWished: boolean) => void;
  /** The source of a video has audio alone, so that there will be no mp4. */
  readonly isAudioOnly: (videoId: string) => boolean;
  /** Ends all work on a video whose row is gone, and removes its files. */
  readonly removed: (videoId: string) => Promise<void>;
  readonly log: Logger;
}

/** What the video of a recording begins with. */
export interface RecordedVideoAttributes {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
}

/** Videos that are looked up at once when those whose time is over are removed. */
const purgeBatchSize = 100;
/** Discarded videos that are looked through for room on the disk. */
const maxPurgedForSpace = 1_000;
/** After the trash was emptied in vain it is left alone for this long. */
const emptyTrashRetryMs = 10 * 60_000;
/** How long a video may be without a source. */
const maxWithoutSourceMs = 7 * 24 * 3_600_000;

/** What a caller can do with videos, and what the rest of the server asks about them. */
export class VideosService {
  readonly #options: VideosOptions;
  readonly #store: VideosStore;
  #emptyingTrash: Promise<void> = Promise.resolve();
  /** The trash is not emptied before this time; monotonic. */
  #emptyTrashNotBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: VideosOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  /** For how many days a deleted video can be restored; 0 where it is gone at once. */
  get restoreDays(): number {
    return this.#options.restoreDays;
  }

  /** A video of a project that is not discarded. */
  find(projectId: string, videoId: string): Video | undefined {
    return this.#store.find({ projectId, isDiscarded: false }, videoId);
  }

  /** A discarded video of a project; none where videos are not discarded (any more). */
  findDiscarded(projectId: string, videoId: string): Video | undefined {
    if (this.restoreDays === 0) return undefined;
    return this.#store.find({ projectId, isDiscarded: true }, videoId);
  }

  /** One page of a project's videos, or of those that are discarded, and how many there are on all pages. */
  async list(
    scope: { projectId: string; isDiscarded: boolean },
    filter: VideoFilter,
    page: ListPage,
  ): Promise<{ views: VideoView[]; total: number }> {
    if (scope.isDiscarded && this.restoreDays === 0) return { views: [], total: 0 };
    const { videos, total } = await this.#store.list(scope, filter, page);
    return { views: videos.map(video => this.view(video)), total };
  }

  /** A video as its owner sees it, with a new private token when it is not public and nothing `hidesPrivate` assets. */
  view(video: Video, { hidesPrivate } = { hidesPrivate: false }): VideoView {
    const { baseUrl, privateTokens, isPlayerRemoved, isAudioOnly } = this.#options;
    const isHidden = !video.public && video.discarded === undefined && !hidesPrivate;
    const hasLostPlayer = video.playerId !== undefined && isPlayerRemoved(video.playerId);
    return viewOf(hasLostPlayer ? { ...video, playerId: undefined } : video, {
      baseUrl: baseUrl(),
      privateToken: isHidden ? privateTokens.mint(video.videoId) : undefined,
      hasMp4: video.mp4Support && !isAudioOnly(video.videoId),
    });
  }

  /**
   * A video as it is now.
   *
   * @param options as for {@link view}
   * @throws AppError `resource-not-found` when it is gone or discarded
   */
  viewOf(projectId: string, videoId: string, options?: { readonly hidesPrivate: boolean }): VideoView {
    const video = this.find(projectId, videoId);
    if (video === undefined) throw gone();
    return this.view(video, options);
  }

  /**
   * Makes a video without a source.
   *
   * @param origin of a recording
   * @throws AppError `invalid-attribute` when the watermark or the player theme is unknown
   */
  create(projectId: string, attributes: VideoAttributes, origin?: { liveStreamId: string }): Video {
    return this.#add(projectId, attributes, { origin });
  }

  /** Makes the video of a recording, with the id that its files have. A theme that is gone is left out. */
  createRecorded(
    projectId: string,
    { videoId, liveStreamId, title, playerId, ...rest }: RecordedVideoAttributes,
  ): Video {
    const hasPlayer = playerId !== undefined && this.#options.playerExists(projectId, playerId);
    const attributes = { title, public: rest.public, ...(hasPlayer ? { playerId } : {}) };
    return this.#add(projectId, attributes, { origin: { liveStreamId, videoId } });
  }

  /** As `create`, in one transaction with those that others make in the same turn. */
  createInBatch(projectId: string, attributes: VideoAttributes): Promise<Video> {
    return this.#store.inBatch(() => this.create(projectId, attributes));
  }

  /**
   * Makes a video whose source is fetched or copied.
   *
   * @throws AppError `invalid-attribute` when the source cannot be used, or as `create` does
   */
  async createFrom(projectId: string, source: string, attributes: VideoAttributes): Promise<Video> {
    const { sources } = this.#options;
    this.#checkReferences(projectId, attributes);
    const plan = await sources.plan(projectId, source);
    return this.#add(projectId, attributes, { begin: videoId => sources.begin(videoId, plan) });
  }

  /**
   * Changes what is given.
   *
   * @throws AppError `invalid-attribute` when the player theme is unknown
   */
  change({ projectId, videoId }: Video, changes: VideoChanges): VideoView {
    this.#checkReferences(projectId, changes);
    const { mp4Support } = changes;
    // Before the row changes: a crash between the two leaves a file too many, never one too few.
    if (mp4Support === true) this.#options.mp4Wished(videoId, true);
    this.#store.change(projectId, videoId, changes, this.#options.clock.nowMs());
    if (mp4Support === false) this.#options.mp4Wished(videoId, false);
    return this.viewOf(projectId, videoId);
  }

  /** Updates the time of the last change, because something that belongs to the video has changed. */
  touch(projectId: string, videoId: string): void {
    this.#store.touch(projectId, videoId, this.#options.clock.nowMs());
  }

  /**
   * Removes a video with all that belongs to it, or discards it where that is set.
   *
   * @param options `isForGood`: nothing is discarded, and what is discarded goes too
   * @throws AppError `resource-not-found` for a discarded video that is not to go for good
   */
  async remove({ projectId, videoId, discarded }: Video, { isForGood = false } = {}): Promise<void> {
    if (this.restoreDays === 0 || isForGood) return this.#erase(projectId, videoId);
    if (discarded !== undefined) throw gone();
    const atMs = this.#options.clock.nowMs();
    this.#store.discard(projectId, videoId, { atMs, deletesAtMs: atMs + this.restoreDays * dayMs });
  }

  /**
   * Brings a discarded video back.
   *
   * @throws AppError `resource-not-found` when it has just been removed
   */
  restore({ projectId, videoId }: Video): VideoView {
    this.#store.restore(projectId, videoId, this.#options.clock.nowMs());
    return this.viewOf(projectId, videoId);
  }

  /** Removes for good what has been discarded long enough; how many videos that were. Throws as {@link removeEach} does. */
  purgeExpired(nowMs: number, signal?: AbortSignal): Promise<number> {
    return this.removeEach(
      atMost => this.#store.findExpired(nowMs, atMost),
      videoId => this.#store.removeExpired(videoId, nowMs),
      signal,
    );
  }

  /**
   * Removes discarded videos before their time, oldest first, until enough bytes are free. Removes none when all of them together are
   * not enough, nor for a while after that freed nothing. One caller after the other.
   *
   * @param missingBytes returns how many bytes more are needed, 0 or less when there are enough
   * @throws as {@link removeEach} does
   */
  makeRoom(missingBytes: () => Promise<number>): Promise<void> {
    const { clock, log } = this.#options;
    const emptying = this.#emptyingTrash.then(async () => {
      if (clock.monotonicMs() < this.#emptyTrashNotBeforeMs) return;
      const bytes = await missingBytes();
      const videoIds = bytes > 0 ? this.#oldestDiscarded(bytes) : [];
      if (videoIds.length === 0) return;
      log.info('trash-emptied', { videos: videoIds.length, bytes });
      await this.removeEach(
        atMost => videoIds.splice(0, atMost),
        videoId => this.#store.removeDiscarded(videoId),
      );
      // Or every attempt would delete more of it.
      if (bytes - (await missingBytes()) >= bytes / 2) return;
      this.#emptyTrashNotBeforeMs = clock.monotonicMs() + emptyTrashRetryMs;
      log.warn('trash-emptied-in-vain', {
        bytes,
        hint: 'a running backup, or a snapshot of the file system, keeps deleted files on the disk',
      });
    });
    this.#emptyingTrash = emptying.catch(() => {});
    return emptying;
  }

  /** Returns whether {@link makeRoom} could free so many bytes. */
  canMakeRoom(bytes: number): boolean {
    return (
      this.#options.clock.monotonicMs() >= this.#emptyTrashNotBeforeMs &&
      this.#oldestDiscarded(bytes).length > 0
    );
  }

  /** The discarded videos whose files have so many bytes, oldest first; none where that is not enough. */
  #oldestDiscarded(bytes: number): string[] {
    const found = this.#store.findOldestDiscarded(maxPurgedForSpace);
    let left = bytes;
    const enough = found.findIndex(video => {
      left -= video.bytes;
      return left <= 0;
    });
    return found.slice(0, enough + 1).map(({ videoId }) => videoId);
  }

  /**
   * Removes for good what no source has begun for in seven days, and none is just being received for; how many videos that were. Throws as
   * {@link removeEach} does.
   */
  removeEmpty(nowMs: number, signal?: AbortSignal): Promise<number> {
    const createdUntilMs = nowMs - maxWithoutSourceMs;
    return this.removeEach(
      atMost => this.#store.findEmpty(createdUntilMs, atMost),
      videoId => !this.#options.isReceiving(videoId) && this.#store.removeEmpty(videoId, createdUntilMs),
      signal,
    );
  }

  /**
   * Removes for good what was uploaded to the sandbox, or recorded there, until `completedUntilMs`, and videos whose source was given up
   * until then unless another is just being received; from the trash too. How many videos that were. Throws as {@link removeEach} does.
   */
  removeOfSandbox(completedUntilMs: number, signal?: AbortSignal): Promise<number> {
    return this.removeEach(
      atMost => this.#store.findOfSandbox(completedUntilMs, atMost),
      videoId =>
        !this.#options.isReceiving(videoId) && this.#store.removeOfSandbox(videoId, completedUntilMs),
      signal,
    );
  }

  /**
   * Removes videos for good, with their files, a few at a time.
   *
   * @param find some of those that are left; what was removed, or is not to be any more, is not found again
   * @param remove removes the row unless something has changed since it was found; whether it did
   * @param signal leaves the rest for another time
   * @returns how many went
   * @throws the first error that the files of one gave; they are tried again by {@link removeOrphanedFiles}, and hold up no other
   */
  async removeEach(
    find: (atMost: number) => readonly string[],
    remove: (videoId: string) => boolean,
    signal?: AbortSignal,
  ): Promise<number> {
    const removals = new FileRemovals(videoId => this.#removeFiles(videoId));
    for (let isLast = false; !isLast; ) {
      const found = find(purgeBatchSize);
      let removed = 0;
      for (const videoId of found) {
        if (signal?.aborted === true) return removals.count();
        if (!remove(videoId)) continue;
        removed += 1;
        await removals.add(videoId);
      }
      isLast = found.length < purgeBatchSize || removed === 0;
    }
    return removals.count();
  }

  /** Removes the files of videos whose rows went before a crash; how many videos those were. Throws as {@link removeEach} does. */
  async removeOrphanedFiles(signal?: AbortSignal): Promise<number> {
    const removals = new FileRemovals(videoId => this.#removeFiles(videoId));
    let afterId = '';
    for (let isLast = false; !isLast; ) {
      const orphaned = this.#store.findWithOrphanedFiles(afterId, purgeBatchSize);
      for (const videoId of orphaned) {
        if (signal?.aborted === true) return removals.count();
        await removals.add(videoId);
      }
      afterId = orphaned.at(-1) ?? afterId;
      isLast = orphaned.length < purgeBatchSize;
    }
    return removals.count();
  }

  /** The row goes first, so that a crash can leave files without a row, but never a row without its files. */
  async #erase(projectId: string, videoId: string): Promise<void> {
    this.#store.remove(projectId, videoId);
    await this.#removeFiles(videoId);
  }

  async #removeFiles(videoId: string): Promise<void> {
    await this.#options.removed(videoId);
    this.#store.filesRemoved(videoId);
  }

  #add(
    projectId: string,
    attributes: VideoAttributes,
    {
      origin,
      begin,
    }: {
      origin?: { liveStreamId: string; videoId?: string } | undefined;
      begin?: (videoId: string) => void;
    },
  ): Video {
    this.#checkReferences(projectId, attributes);
    const { clip, watermark } = attributes;
    const nowMs = this.#options.clock.nowMs();
    const video: Video = {
      videoId: origin?.videoId ?? newId('vi'),
      projectId,
      title: attributes.title,
      description: attributes.description ?? '',
      public: attributes.public ?? true,
      panoramic: attributes.panoramic ?? false,
      mp4Support: attributes.mp4Support ?? true,
      playerId: attributes.playerId ?? undefined,
      tags: attributes.tags ?? [],
      metadata: attributes.metadata ?? [],
      language: attributes.language ?? undefined,
      liveStreamId: origin?.liveStreamId,
      createdAtMs: nowMs,
      publishedAtMs: nowMs,
      updatedAtMs: nowMs,
      discarded: undefined,
    };
    this.#store.add(video, { clip, watermark }, () => {
      if (watermark !== undefined) this.#options.takeWatermark(video.videoId, watermark.id);
      begin?.(video.videoId);
    });
    return video;
  }

  #checkReferences(
    projectId: string,
    { playerId, watermark }: Pick<VideoChanges, 'playerId'> & Pick<VideoAttributes, 'watermark'>,
  ): void {
    const { playerExists, watermarkExists } = this.#options;
    if (playerId !== undefined && playerId !== null && !playerExists(projectId, playerId)) {
      throw attributeError('playerId', 'There is no such player theme.');
    }
    if (watermark !== undefined && !watermarkExists(projectId, watermark.id)) {
      throw attributeError('watermark[id]', 'There is no such watermark.');
    }
  }
}

/** Removes the files of one video after the other, and keeps the first error until all had their turn. */
class FileRemovals {
  readonly #remove: (videoId: string) => Promise<void>;
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(remove: (videoId: string) => Promise<void>) {
    this.#remove = remove;
  }

  async add(videoId: string): Promise<void> {
    try {
      await this.#remove(videoId);
      this.#count += 1;
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  /** How many went. @throws the first error */
  count(): number {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#count;
  }
}

function gone(): AppError {
  return new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
}
