import { notFoundError } from '../../http/routing/project-resource.ts';
import { attributeError } from '../../http/routing/validation.ts';
import { dayMs } from '../../shared/day.ts';
import { newId } from '../../shared/ids.ts';
import { type ListResult, mapList } from '../../shared/list-page.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import type { ListPage } from './lists/sorted-videos.store.ts';
import type { VideoFilter } from './lists/video-filter.ts';
import type { Video, VideoAttributes, VideoChanges } from './video.ts';
import { VideoRemoval, type VideoRemovalOptions } from './video-removal.ts';
import type { VideoSourceImporter } from './video-source-importer.ts';
import { viewOf } from './video-view.ts';
import type { VideoView } from './videos.schema.ts';
import type { VideosStore } from './videos.store.ts';

export interface VideosOptions extends VideoRemovalOptions {
  readonly privateTokens: PrivateTokens;
  /** Without a trailing slash. */
  readonly baseUrl: () => string;
  readonly restoreDays: number;
  readonly sources: VideoSourceImporter;
  readonly watermarkExists: (projectId: string, watermarkId: string) => boolean;
  /** Copies the image for a new video, in the transaction that adds the video. */
  readonly takeWatermark: (videoId: string, watermarkId: string) => void;
  readonly playerExists: (projectId: string, playerId: string) => boolean;
  readonly isPlayerRemoved: (playerId: string) => boolean;
  readonly mp4SupportChanged: (videoId: string, isSupported: boolean) => void;
  readonly isAudioOnly: (videoId: string) => boolean;
}

interface RecordedVideoAttributes {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
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
    return this.#options.restoreDays;
  }

  find(projectId: string, videoId: string): Video | undefined {
    return this.#store.find({ projectId, isDiscarded: false }, videoId);
  }

  findDiscarded(projectId: string, videoId: string): Video | undefined {
    if (this.restoreDays === 0) return undefined;
    return this.#store.find({ projectId, isDiscarded: true }, videoId);
  }

  async list(
    scope: { projectId: string; isDiscarded: boolean },
    filter: VideoFilter,
    page: ListPage,
  ): Promise<ListResult<VideoView>> {
    if (scope.isDiscarded && this.restoreDays === 0) return { items: [], total: 0 };
    return mapList(await this.#store.list(scope, filter, page), video => this.view(video));
  }

  /** Shows a video, with a new private token when it is private, unless `hidesPrivate`. */
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

  viewOf(projectId: string, videoId: string, options?: { readonly hidesPrivate: boolean }): VideoView {
    const video = this.find(projectId, videoId);
    if (video === undefined) throw notFoundError('videoId');
    return this.view(video, options);
  }

  create(projectId: string, attributes: VideoAttributes, origin?: { liveStreamId: string }): Video {
    return this.#add(projectId, attributes, { origin });
  }

  /** Creates the video of a recording, with the id of its files. Leaves out a deleted theme. */
  createRecorded(
    projectId: string,
    { videoId, liveStreamId, title, playerId, ...rest }: RecordedVideoAttributes,
  ): Video {
    const hasPlayer = playerId !== undefined && this.#options.playerExists(projectId, playerId);
    const attributes = { title, public: rest.public, ...(hasPlayer ? { playerId } : {}) };
    return this.#add(projectId, attributes, { origin: { liveStreamId, videoId } });
  }

  /** Works like {@link create}, in one transaction with other calls of the same event loop iteration. */
  createInBatch(projectId: string, attributes: VideoAttributes): Promise<Video> {
    return this.#store.inBatch(() => this.create(projectId, attributes));
  }

  async createFrom(projectId: string, source: string, attributes: VideoAttributes): Promise<Video> {
    const { sources } = this.#options;
    this.#checkReferences(projectId, attributes);
    const plan = await sources.plan(projectId, source);
    return this.#add(projectId, attributes, { begin: videoId => sources.begin(videoId, plan) });
  }

  change({ projectId, videoId }: Video, changes: VideoChanges): VideoView {
    this.#checkReferences(projectId, changes);
    const { mp4Support } = changes;
    // Before the row changes: a crash in between leaves a superfluous file, and never lacks one.
    if (mp4Support === true) this.#options.mp4SupportChanged(videoId, true);
    this.#store.change(projectId, videoId, changes, this.#options.clock.nowMs());
    if (mp4Support === false) this.#options.mp4SupportChanged(videoId, false);
    return this.viewOf(projectId, videoId);
  }

  touch(projectId: string, videoId: string): void {
    this.#store.touch(projectId, videoId, this.#options.clock.nowMs());
  }

  /** @throws AppError `resource-not-found` for a discarded video that is not removed `permanently` */
  async remove({ projectId, videoId, discarded }: Video, { permanently = false } = {}): Promise<void> {
    if (this.restoreDays === 0 || permanently) return this.removal.remove(projectId, videoId);
    if (discarded !== undefined) throw notFoundError('videoId');
    const atMs = this.#options.clock.nowMs();
    this.#store.discard(projectId, videoId, { atMs, deletesAtMs: atMs + this.restoreDays * dayMs });
  }

  restore({ projectId, videoId }: Video): VideoView {
    this.#store.restore(projectId, videoId, this.#options.clock.nowMs());
    return this.viewOf(projectId, videoId);
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
