import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId, newUuid } from '../../shared/ids.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import type { ThumbnailOwner } from '../videos/thumbnails/prepare-thumbnail.ts';
import type { LiveControl } from './live-control.ts';
import type { LiveStream, LiveStreamChanges } from './live-stream.ts';
import { type LiveStreamView, viewOf } from './live-stream-view.ts';
import type { LiveStreamsStore, StreamKeyOwner } from './live-streams.store.ts';
import type { LiveThumbnailFiles } from './live-thumbnail-files.ts';

/** What is asked of player themes. */
export interface PlayerLookup {
  exists(projectId: string, playerId: string): boolean;
  /** Whether a theme that a live stream names is gone, so that it has none. */
  isRemoved(playerId: string): boolean;
}

/** What a caller can do with live streams, and what the rest of the server asks about them. */
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
    /** Base of asset addresses, without a slash at its end. */
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

  /** A live stream of a project. */
  find(projectId: string, liveStreamId: string): LiveStream | undefined {
    return this.#store.find(projectId, liveStreamId);
  }

  /** One page of a project's live streams, and how many there are on all pages. */
  list(...query: Parameters<LiveStreamsStore['list']>): { views: LiveStreamView[]; total: number } {
    const { streams, total } = this.#store.list(...query);
    return { views: streams.map(stream => this.view(stream)), total };
  }

  /** A live stream as its owner sees it, with a new private token when it is not public. */
  view(stream: LiveStream): LiveStreamView {
    const hasLostPlayer = stream.playerId !== undefined && this.#players.isRemoved(stream.playerId);
    return viewOf(hasLostPlayer ? { ...stream, playerId: undefined } : stream, {
      baseUrl: this.#baseUrl(),
      isBroadcasting: this.#live.isBroadcasting(stream.liveStreamId),
      privateToken: stream.public ? undefined : this.#privateTokens.mint(stream.liveStreamId),
    });
  }

  /** Makes a live stream with a new key. @throws AppError `invalid-attribute` when the player theme is unknown */
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
   * Changes what is given. Restreams, qualities and the recording of a running broadcast stay until the next one.
   *
   * @throws AppError `invalid-attribute` when the player theme is unknown
   */
  change(stream: LiveStream, changes: LiveStreamChanges): LiveStreamView {
    this.#checkPlayer(stream.projectId, changes);
    this.#store.change(stream.projectId, stream.liveStreamId, changes, this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  /** Ends the broadcast, if there is one, and removes the live stream with all that belongs to it. */
  async remove(stream: LiveStream): Promise<void> {
    await this.#live.remove(stream.liveStreamId);
    this.#store.remove(stream.projectId, stream.liveStreamId);
    // An encoder may have begun anew before the key was gone.
    await this.#live.remove(stream.liveStreamId);
    await this.#thumbnails.removeAll(stream.liveStreamId);
  }

  /** Replaces the key. Whoever publishes with the old one stays connected, and cannot come back. */
  regenerateKey(stream: LiveStream): LiveStreamView {
    this.#store.setStreamKey(stream.projectId, stream.liveStreamId, newUuid(), this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  /** Ends the broadcast soon, if there is one. */
  complete(stream: LiveStream): void {
    this.#live.complete(stream.liveStreamId);
  }

  /** Puts an image in place. Throws as {@link LiveThumbnailFiles.put} does. */
  async setThumbnail(stream: LiveStream, file: UploadedFile, owner: ThumbnailOwner): Promise<LiveStreamView> {
    const type = await this.#thumbnails.put(stream.liveStreamId, file, owner);
    if (this.#store.find(stream.projectId, stream.liveStreamId) === undefined) {
      // Deleted while the image came in.
      await this.#thumbnails.removeAll(stream.liveStreamId);
      throw gone();
    }
    this.#store.setThumbnail(stream.projectId, stream.liveStreamId, type, this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  /** Takes the image away; the address then shows the placeholder. */
  async removeThumbnail(stream: LiveStream): Promise<LiveStreamView> {
    this.#store.setThumbnail(stream.projectId, stream.liveStreamId, null, this.#clock.nowMs());
    await this.#thumbnails.remove(stream.liveStreamId);
    return this.#viewUpdated(stream);
  }

  /** Who publishes when a stream key is used; for the publish gate. */
  findByStreamKey(streamKey: string): StreamKeyOwner | undefined {
    return this.#store.findByStreamKey(streamKey);
  }

  /** What viewers' pages show of a stream; for delivery. */
  findForViewers(
    liveStreamId: string,
  ): { projectId: string; name: string; public: boolean; playerId: string | undefined } | undefined {
    return this.#store.findForViewers(liveStreamId);
  }

  /** The file of an uploaded image, if there is one; for delivery. */
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
    if (changed === undefined) throw gone();
    return this.view(changed);
  }
}

function gone(): AppError {
  return new AppError('resource-not-found', undefined, { details: { name: 'liveStreamId' } });
}
