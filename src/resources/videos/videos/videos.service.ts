import { notFoundError } from '../../../http/routing/project-resource.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { dayMs } from '../../../shared/day.ts';
import { type AppError, mayBeCommitted } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { ListResult } from '../../../shared/list-page.ts';
import type { PlaybackPolicy } from '../../../shared/playback-policy.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { inheritAccess } from '../../playback/playback-policies/inherited-access.ts';
import type { PrivateTokens } from '../../playback/private-sessions/private-tokens.store.ts';
import { checkExactClip } from './exact-clip.ts';
import type { VideoFilter } from './lists/video-filter.ts';
import type { ListPage } from './lists/video-lists.ts';
import type { CaptionGeneration } from './transcripts/caption-generation.ts';
import type { Video, VideoAttributes, VideoChanges } from './video.ts';
import { VideoRemoval, type VideoRemovalOptions } from './video-removal.ts';
import type { VideoSourceImporter } from './video-source-importer.ts';
import { viewOf } from './video-view.ts';
import type { VideoView } from './videos.schema.ts';
import type { VideosStore } from './videos.store.ts';

export interface VideosOptions extends VideoRemovalOptions {
  readonly database: Database;
  readonly privateTokens: PrivateTokens;
  /** Base URL without a trailing slash. */
  readonly baseUrl: () => string;
  readonly restoreDays: () => number;
  readonly captionGeneration: CaptionGeneration;
  readonly sources: VideoSourceImporter;
  readonly watermarkExists: (projectId: string, watermarkId: string) => Promise<boolean>;
  /** Copies the image for a new video. Returns false when the watermark was deleted. */
  readonly takeWatermark: (videoId: string, watermarkId: string) => Promise<boolean>;
  /** Removes the copy, when the video could not be created. */
  readonly returnWatermark: (videoId: string) => Promise<void>;
  /** Keeps the theme until the transaction ends. */
  readonly playerExists: (projectId: string, playerId: string, connection?: Connection) => Promise<boolean>;
  readonly findRemovedPlayers: (
    playerIds: readonly string[],
    connection?: Connection,
  ) => Promise<ReadonlySet<string>>;
  readonly mp4SupportChanged: (
    videoId: string,
    isSupported: boolean,
    transaction: Transaction,
  ) => Promise<void>;
  /** Called when a video is moved to the trash, to pause its work. */
  readonly discarded: (videoId: string, transaction: Transaction) => Promise<void>;
  /** Work on restored videos is resumed. */
  readonly restored: (transaction: Transaction) => Promise<void>;
}

interface RecordedVideoAttributes {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
  /** Holds once the live stream is deleted. */
  readonly playbackPolicy?: PlaybackPolicy | undefined;
}

interface ViewOptions {
  /** Leaves out the token that opens a private video, for those who may not watch it. */
  readonly hidesPrivate: boolean;
}

export class VideosService {
  readonly removal: VideoRemoval;
  readonly #options: VideosOptions;
  readonly #store: VideosStore;

  constructor(options: VideosOptions) {
    this.#options = options;
    this.#store = options.store;
    this.removal = new VideoRemoval(options);
  }

  get restoreDays(): number {
    return this.#options.restoreDays();
  }

  find(projectId: string, videoId: string, connection?: Connection): Promise<Video | undefined> {
    return this.#store.find({ projectId, isDiscarded: false }, videoId, connection);
  }

  /** Keeps the ids that are videos of the project, and not discarded. */
  idsAmong(projectId: string, videoIds: readonly string[]): Promise<string[]> {
    return this.#store.idsAmong(projectId, videoIds);
  }

  /** Keeps the video until the transaction ends. Returns false when it is not there, or discarded. */
  keep(projectId: string, videoId: string, transaction: Transaction): Promise<boolean> {
    return this.#store.keep({ projectId, isDiscarded: false }, videoId, transaction);
  }

  async findDiscarded(projectId: string, videoId: string): Promise<Video | undefined> {
    if (this.restoreDays === 0) return undefined;
    return this.#store.find({ projectId, isDiscarded: true }, videoId);
  }

  async list(
    scope: { projectId: string; isDiscarded: boolean },
    filter: VideoFilter,
    page: ListPage,
  ): Promise<ListResult<VideoView>> {
    if (scope.isDiscarded && this.restoreDays === 0) return { items: [], total: 0 };
    const { items, total } = await this.#store.list(scope, filter, page);
    return { items: await this.#views(items, { hidesPrivate: false }), total };
  }

  /** Shows a video, with a new private token when it is private. */
  async view(video: Video, options: ViewOptions): Promise<VideoView> {
    const [view] = await this.#views([video], options);
    return view!;
  }

  async viewOf(projectId: string, videoId: string, options: ViewOptions): Promise<VideoView> {
    const video = await this.find(projectId, videoId);
    if (video === undefined) throw notFoundError('videoId');
    return this.view(video, options);
  }

  async create(projectId: string, attributes: VideoAttributes): Promise<Video> {
    checkExactClip(attributes.clip);
    await this.#checkReferences(projectId, attributes);
    return this.#add(projectId, attributes, {});
  }

  /** Creates the video of an upload, with the id of its files. */
  createNamed(
    projectId: string,
    videoId: string,
    attributes: VideoAttributes,
    transaction: Transaction,
  ): Promise<Video> {
    return this.#add(projectId, attributes, { origin: { videoId } }, transaction);
  }

  /** Creates the video of a recording, with the id of its files, and the policy and the place in the channel of its live stream. Leaves out a deleted theme. */
  async createRecorded(
    projectId: string,
    { videoId, liveStreamId, title, playerId, ...rest }: RecordedVideoAttributes,
    transaction: Transaction,
  ): Promise<Video> {
    const hasPlayer =
      playerId !== undefined && (await this.#options.playerExists(projectId, playerId, transaction));
    const stream = await this.#store.recordedFrom(projectId, liveStreamId, transaction);
    const playbackPolicy = stream === undefined ? rest.playbackPolicy : stream.policy;
    const attributes = {
      title,
      public: rest.public,
      listed: stream?.listed === true,
      playbackPolicy,
      ...(hasPlayer ? { playerId } : {}),
    };
    return this.#add(projectId, attributes, { origin: { liveStreamId, videoId } }, transaction);
  }

  async createFrom(projectId: string, source: string, attributes: VideoAttributes): Promise<Video> {
    const videoId = await this.#options.sources.createElsewhere?.(projectId, source, attributes);
    if (videoId === undefined) return this.createHere(projectId, source, attributes);
    const video = await this.find(projectId, videoId);
    if (video === undefined) throw notFoundError('videoId');
    return video;
  }

  async createHere(projectId: string, source: string, attributes: VideoAttributes): Promise<Video> {
    const { sources } = this.#options;
    await this.#checkReferences(projectId, attributes);
    const plan = await sources.plan(projectId, source, attributes.clip);
    const { origin, clippedFrom, copiedFrom } = plan;
    try {
      return await this.#add(
        projectId,
        { ...attributes, clip: plan.clip },
        {
          origin,
          clippedFrom,
          copiedFrom,
          begin: (videoId, transaction) => sources.begin(videoId, plan, transaction),
        },
      );
    } catch (error) {
      if (!mayBeCommitted(error)) await sources.abandon?.(plan);
      throw error;
    }
  }

  async change({ projectId, videoId }: Video, changes: VideoChanges): Promise<VideoView> {
    const { database, clock, mp4SupportChanged, captionGeneration } = this.#options;
    this.#checkExpiry(changes.expiresAt);
    captionGeneration.check(changes);
    await database.transaction(async transaction => {
      await this.#checkReferences(projectId, changes, transaction);
      const isChanged = await this.#store.change(projectId, videoId, changes, clock.nowMs(), transaction);
      if (!isChanged) throw notFoundError('videoId');
      await captionGeneration.request({ projectId, videoId }, changes, clock.nowMs(), transaction);
      if (changes.mp4Support === undefined) return;
      await mp4SupportChanged(videoId, changes.mp4Support, transaction);
    });
    return this.viewOf(projectId, videoId, { hidesPrivate: false });
  }

  /**
   * Call this first in a transaction that changes what belongs to the video: others wait until it ends. Returns false
   * when the video is not there.
   */
  touch(projectId: string, videoId: string, connection?: Connection): Promise<boolean> {
    return this.#store.touch(projectId, videoId, this.#options.clock.nowMs(), connection);
  }

  /** @throws AppError `resource-not-found` for a discarded video that is not removed `permanently` */
  async remove({ projectId, videoId, discarded }: Video, { permanently = false } = {}): Promise<void> {
    if (this.restoreDays === 0 || permanently) return this.removal.remove(projectId, videoId);
    if (discarded !== undefined) throw notFoundError('videoId');
    await this.discard(projectId, videoId);
  }

  /**
   * Moves a video to the trash. Without a trash, its row goes: remove its files after the commit.
   * @returns the time at which it is deleted permanently; undefined without a trash
   * @throws AppError `resource-not-found` when it is in the trash already
   */
  async discard(projectId: string, videoId: string, connection?: Connection): Promise<number | undefined> {
    if (this.restoreDays === 0) {
      await this.#store.remove(projectId, videoId, connection);
      return undefined;
    }
    const atMs = this.#options.clock.nowMs();
    const deletesAtMs = atMs + this.restoreDays * dayMs;
    const { database, discarded } = this.#options;
    await (connection ?? database).transaction(async transaction => {
      const isDiscarded = await this.#store.discard(projectId, videoId, { atMs, deletesAtMs }, transaction);
      if (!isDiscarded) throw notFoundError('videoId');
      await discarded(videoId, transaction);
    });
    return deletesAtMs;
  }

  async restore({ projectId, videoId }: Video): Promise<VideoView> {
    const { database, clock, restored } = this.#options;
    await database.transaction(async transaction => {
      const isRestored = await this.#store.restore(projectId, videoId, clock.nowMs(), transaction);
      if (!isRestored) throw notFoundError('videoId');
      await restored(transaction);
    });
    return this.viewOf(projectId, videoId, { hidesPrivate: false });
  }

  async #views(videos: readonly Video[], { hidesPrivate }: ViewOptions): Promise<VideoView[]> {
    const { baseUrl, privateTokens, findRemovedPlayers } = this.#options;
    const playerIds = videos.map(({ playerId }) => playerId).filter(id => id !== undefined);
    const removedPlayers =
      playerIds.length === 0 ? undefined : await findRemovedPlayers([...new Set(playerIds)]);
    return videos.map(video => {
      const { videoId, playerId } = video;
      const isHidden = !video.public && video.discarded === undefined && !hidesPrivate;
      const hasLostPlayer = playerId !== undefined && removedPlayers?.has(playerId) === true;
      return viewOf(hasLostPlayer ? { ...video, playerId: undefined } : video, {
        baseUrl: baseUrl(),
        privateToken: isHidden ? privateTokens.mint(videoId) : undefined,
        hasMp4: video.mp4Support && video.isAudioOnly !== true,
      });
    });
  }

  async #add(
    projectId: string,
    attributes: VideoAttributes,
    {
      origin,
      clippedFrom,
      copiedFrom,
      begin,
    }: {
      origin?: { readonly liveStreamId?: string; readonly videoId: string };
      clippedFrom?: string | undefined;
      copiedFrom?: string | undefined;
      begin?: (videoId: string, transaction: Transaction) => Promise<void>;
    },
    connection?: Connection,
  ): Promise<Video> {
    const { takeWatermark, returnWatermark, captionGeneration } = this.#options;
    const { clip, watermark } = attributes;
    const nowMs = this.#options.clock.nowMs();
    this.#checkExpiry(attributes.expiresAt);
    captionGeneration.check(attributes);
    // Clips are parts of what has captions, and viewers can make them.
    const requested =
      clippedFrom === undefined
        ? await captionGeneration.withDefaults(
            { projectId, isRecording: origin?.liveStreamId !== undefined },
            attributes,
            connection,
          )
        : attributes;
    const expiresAtMs =
      attributes.expiresAt === undefined
        ? await this.#defaultExpiry(projectId, { liveStreamId: origin?.liveStreamId, copiedFrom }, connection)
        : (attributes.expiresAt ?? undefined);
    const video: Video = {
      videoId: origin?.videoId ?? newId('vi'),
      projectId,
      title: attributes.title,
      description: attributes.description ?? '',
      public: attributes.public ?? true,
      listed: attributes.listed ?? false,
      panoramic: attributes.panoramic ?? false,
      mp4Support: attributes.mp4Support ?? true,
      playerId: attributes.playerId ?? undefined,
      tags: attributes.tags ?? [],
      metadata: attributes.metadata ?? [],
      language: attributes.language ?? undefined,
      liveStreamId: origin?.liveStreamId,
      clippedFrom,
      createdAtMs: nowMs,
      publishedAtMs: nowMs,
      updatedAtMs: nowMs,
      expiresAtMs,
      playbackPolicy: attributes.playbackPolicy ?? undefined,
      discarded: undefined,
    };
    if (watermark !== undefined && !(await takeWatermark(video.videoId, watermark.id))) {
      throw watermarkError();
    }
    const also = async (transaction: Transaction) => {
      // The theme may have been deleted meanwhile.
      await this.#checkPlayer(projectId, video.playerId, transaction);
      await captionGeneration.request(video, requested, nowMs, transaction);
      await begin?.(video.videoId, transaction);
      if (copiedFrom === undefined) return;
      const has = {
        public: attributes.public !== undefined,
        policy: attributes.playbackPolicy !== undefined,
      };
      const source = { id: copiedFrom, limits: attributes.viewerLimits };
      await inheritAccess(video, source, has, transaction);
    };
    try {
      await this.#store.add(video, { clip, watermark }, also, connection);
    } catch (error) {
      if (watermark !== undefined) await returnWatermark(video.videoId);
      throw error;
    }
    if (copiedFrom === undefined) return video;
    return (await this.find(projectId, video.videoId, connection)) ?? video;
  }

  /** A copy expires with its original, or before. */
  async #defaultExpiry(
    projectId: string,
    { liveStreamId, copiedFrom }: { liveStreamId: string | undefined; copiedFrom: string | undefined },
    connection: Connection | undefined,
  ): Promise<number | undefined> {
    const days = await this.#store.keepDays(projectId, liveStreamId, connection);
    const ownMs = days && this.#options.clock.nowMs() + days * dayMs;
    const original =
      copiedFrom === undefined ? undefined : await this.find(projectId, copiedFrom, connection);
    const originalMs = original?.expiresAtMs;
    return ownMs === undefined || originalMs === undefined
      ? (ownMs ?? originalMs)
      : Math.min(ownMs, originalMs);
  }

  #checkExpiry(expiresAtMs: number | null | undefined): void {
    if (expiresAtMs === undefined || expiresAtMs === null) return;
    if (expiresAtMs > this.#options.clock.nowMs()) return;
    throw attributeError('expiresAt', 'This value should be in the future.');
  }

  async #checkReferences(
    projectId: string,
    { playerId, watermark }: Pick<VideoChanges, 'playerId'> & Pick<VideoAttributes, 'watermark'>,
    connection?: Connection,
  ): Promise<void> {
    await this.#checkPlayer(projectId, playerId ?? undefined, connection);
    if (watermark === undefined) return;
    if (!(await this.#options.watermarkExists(projectId, watermark.id))) throw watermarkError();
  }

  async #checkPlayer(
    projectId: string,
    playerId: string | undefined,
    connection: Connection | undefined,
  ): Promise<void> {
    if (playerId === undefined) return;
    if (await this.#options.playerExists(projectId, playerId, connection)) return;
    throw attributeError('playerId', 'This player theme does not exist.');
  }
}

function watermarkError(): AppError {
  return attributeError('watermark[id]', 'This watermark does not exist.');
}
