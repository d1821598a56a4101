import { notFoundError } from '../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import type { Clock } from '../../shared/clock.ts';
import { newId, newUuid } from '../../shared/ids.ts';
import { type ListResult, mapList } from '../../shared/list-page.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import type { ThumbnailOwner } from '../videos/thumbnails/prepare-thumbnail.ts';
import type { LiveControl } from './live-control.ts';
import type { LiveStream, LiveStreamChanges } from './live-stream.ts';
import { type LiveStreamView, viewOf } from './live-stream-view.ts';
import type { LiveStreamsStore, StreamKeyOwner } from './live-streams.store.ts';
import type { LiveThumbnailFiles } from './live-thumbnail-files.ts';

interface PlayerLookup {
  exists(projectId: string, playerId: string): boolean;
  /** Tells whether a theme that a live stream names is deleted. */
  isRemoved(playerId: string): boolean;
}

/** Manages live streams. */
export class LiveStreamsService {
  readonly #store: LiveStreamsStore;
  readonly #thumbnails: LiveThumbnailFiles;
  readonly #live: LiveControl;
  readonly #privateTokens: PrivateTokens;
  readonly #baseUrl: () => string;
  readonly #players: PlayerLookup;
  readonly #clock: Clock;

  constructor(options: {
    store: LiveStreamsStore;
    thumbnails: LiveThumbnailFiles;
    live: LiveControl;
    privateTokens: PrivateTokens;
    /** Base of asset URLs, without a trailing slash. */
    baseUrl: () => string;
    players: PlayerLookup;
    clock: Clock;
  }) {
    this.#store = options.store;
    this.#thumbnails = options.thumbnails;
    this.#live = options.live;
    this.#privateTokens = options.privateTokens;
    this.#baseUrl = options.baseUrl;
    this.#players = options.players;
    this.#clock = options.clock;
  }

  find(projectId: string, liveStreamId: string): LiveStream | undefined {
    return this.#store.find(projectId, liveStreamId);
  }

  list(...query: Parameters<LiveStreamsStore['list']>): ListResult<LiveStreamView> {
    return mapList(this.#store.list(...query), stream => this.view(stream));
  }

  /** The owner's view of a live stream, with a new private token when it is private. */
  view(stream: LiveStream): LiveStreamView {
    const hasLostPlayer = stream.playerId !== undefined && this.#players.isRemoved(stream.playerId);
    return viewOf(hasLostPlayer ? { ...stream, playerId: undefined } : stream, {
      baseUrl: this.#baseUrl(),
      isBroadcasting: this.#live.isBroadcasting(stream.liveStreamId),
      privateToken: stream.public ? undefined : this.#privateTokens.mint(stream.liveStreamId),
    });
  }

  /** @throws AppError `invalid-attribute` when the player theme is unknown */
  create(projectId: string, attributes: LiveStreamChanges & { name: string }): LiveStreamView {
    this.#checkPlayer(projectId, attributes);
    const nowMs = this.#clock.nowMs();
    const stream: LiveStream = {
      liveStreamId: newId('li'),
      projectId,
      name: attributes.name,
      streamKey: newUuid(),
      public: attributes.public ?? true,
      playerId: attributes.playerId ?? undefined,
      restreams: attributes.restreams ?? [],
      qualities: attributes.qualities ?? undefined,
      record: attributes.record ?? undefined,
      thumbnailType: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    this.#store.add(stream);
    return this.view(stream);
  }

  /**
   * Changes a live stream. Restreams, qualities and recording of a running broadcast change with the next one.
   *
   * @throws AppError `invalid-attribute` when the player theme is unknown
   */
  change(stream: LiveStream, changes: LiveStreamChanges): LiveStreamView {
    this.#checkPlayer(stream.projectId, changes);
    this.#store.change(stream.projectId, stream.liveStreamId, changes, this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  /** Ends a running broadcast, and removes the live stream with all that belongs to it. */
  async remove(stream: LiveStream): Promise<void> {
    await this.#live.remove(stream.liveStreamId);
    this.#store.remove(stream.projectId, stream.liveStreamId);
    // An encoder may have started again before the key was removed.
    await this.#live.remove(stream.liveStreamId);
    await this.#thumbnails.removeAll(stream.liveStreamId);
  }

  /** Replaces the stream key. A publisher with the old one stays connected but cannot reconnect. */
  regenerateKey(stream: LiveStream): LiveStreamView {
    this.#store.setStreamKey(stream.projectId, stream.liveStreamId, newUuid(), this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  complete(stream: LiveStream): void {
    this.#live.complete(stream.liveStreamId);
  }

  /** Throws as {@link LiveThumbnailFiles.put} does. */
  async setThumbnail(stream: LiveStream, file: UploadedFile, owner: ThumbnailOwner): Promise<LiveStreamView> {
    const type = await this.#thumbnails.put(stream.liveStreamId, file, owner);
    if (this.#store.find(stream.projectId, stream.liveStreamId) === undefined) {
      // Deleted during the upload.
      await this.#thumbnails.removeAll(stream.liveStreamId);
      throw notFoundError('liveStreamId');
    }
    this.#store.setThumbnail(stream.projectId, stream.liveStreamId, type, this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  /** Removes the thumbnail: its URL then shows the placeholder. */
  async removeThumbnail(stream: LiveStream): Promise<LiveStreamView> {
    this.#store.setThumbnail(stream.projectId, stream.liveStreamId, null, this.#clock.nowMs());
    await this.#thumbnails.remove(stream.liveStreamId);
    return this.#viewUpdated(stream);
  }

  /** The live stream of a stream key, for the publish gate. */
  findByStreamKey(streamKey: string): StreamKeyOwner | undefined {
    return this.#store.findByStreamKey(streamKey);
  }

  /** A live stream of any project, for delivery. */
  findForViewers(liveStreamId: string): ReturnType<LiveStreamsStore['findForViewers']> {
    return this.#store.findForViewers(liveStreamId);
  }

  /** The file of the thumbnail, for delivery. */
  thumbnailPath(liveStreamId: string): string | undefined {
    const hasThumbnail = this.#store.findForViewers(liveStreamId)?.hasThumbnail === true;
    return hasThumbnail ? this.#thumbnails.pathOf(liveStreamId) : undefined;
  }

  #checkPlayer(projectId: string, { playerId }: LiveStreamChanges): void {
    if (playerId === undefined || playerId === null || this.#players.exists(projectId, playerId)) return;
    throw attributeError('playerId', 'There is no such player theme.');
  }

  #viewUpdated(stream: LiveStream): LiveStreamView {
    const changed = this.#store.find(stream.projectId, stream.liveStreamId);
    if (changed === undefined) throw notFoundError('liveStreamId');
    return this.view(changed);
  }
}
