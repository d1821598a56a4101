import { notFoundError } from '../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import type { Clock } from '../../shared/clock.ts';
import { newId, newUuid } from '../../shared/ids.ts';
import { type ListResult, mapList } from '../../shared/list-page.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import type { ThumbnailOwner } from '../videos/thumbnails/prepare-thumbnail.ts';
import type { LiveControl, RestreamControl } from './live-control.ts';
import { destinationsOf, type LiveStream, type LiveStreamChanges } from './live-stream.ts';
import { type LiveStreamView, viewOf } from './live-stream-view.ts';
import type { LiveStreamsStore, StreamKeyOwner } from './live-streams.store.ts';
import type { LiveThumbnailFiles } from './live-thumbnail-files.ts';

interface PlayerLookup {
  exists(projectId: string, playerId: string): boolean;
  isRemoved(playerId: string): boolean;
}

export class LiveStreamsService {
  readonly #store: LiveStreamsStore;
  readonly #thumbnails: LiveThumbnailFiles;
  readonly #live: LiveControl;
  readonly #restreams: RestreamControl;
  readonly #privateTokens: PrivateTokens;
  readonly #baseUrl: () => string;
  readonly #players: PlayerLookup;
  readonly #clock: Clock;

  constructor(options: {
    store: LiveStreamsStore;
    thumbnails: LiveThumbnailFiles;
    live: LiveControl;
    restreams: RestreamControl;
    privateTokens: PrivateTokens;
    /** Without a trailing slash. */
    baseUrl: () => string;
    players: PlayerLookup;
    clock: Clock;
  }) {
    this.#store = options.store;
    this.#thumbnails = options.thumbnails;
    this.#live = options.live;
    this.#restreams = options.restreams;
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

  view(stream: LiveStream): LiveStreamView {
    const hasLostPlayer = stream.playerId !== undefined && this.#players.isRemoved(stream.playerId);
    return viewOf(hasLostPlayer ? { ...stream, playerId: undefined } : stream, {
      baseUrl: this.#baseUrl(),
      isBroadcasting: this.#live.isBroadcasting(stream.liveStreamId),
      privateToken: stream.public ? undefined : this.#privateTokens.mint(stream.liveStreamId),
    });
  }

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

  /** Restreams change at once; qualities and recording with the next broadcast. */
  change(stream: LiveStream, changes: LiveStreamChanges): LiveStreamView {
    this.#checkPlayer(stream.projectId, changes);
    this.#store.change(stream.projectId, stream.liveStreamId, changes, this.#clock.nowMs());
    if (changes.restreams !== undefined) {
      this.#restreams.update(stream.liveStreamId, destinationsOf(changes.restreams));
    }
    return this.#viewUpdated(stream);
  }

  async remove(stream: LiveStream): Promise<void> {
    await this.#live.remove(stream.liveStreamId);
    this.#store.remove(stream.projectId, stream.liveStreamId);
    // An encoder may have started again before the key was removed.
    await this.#live.remove(stream.liveStreamId);
    await this.#thumbnails.removeAll(stream.liveStreamId);
  }

  /** A publisher with the old key stays connected but cannot reconnect. */
  regenerateKey(stream: LiveStream): LiveStreamView {
    this.#store.setStreamKey(stream.projectId, stream.liveStreamId, newUuid(), this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  complete(stream: LiveStream): void {
    this.#live.complete(stream.liveStreamId);
  }

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

  async removeThumbnail(stream: LiveStream): Promise<LiveStreamView> {
    this.#store.setThumbnail(stream.projectId, stream.liveStreamId, null, this.#clock.nowMs());
    await this.#thumbnails.remove(stream.liveStreamId);
    return this.#viewUpdated(stream);
  }

  findByStreamKey(streamKey: string): StreamKeyOwner | undefined {
    return this.#store.findByStreamKey(streamKey);
  }

  findForViewers(liveStreamId: string): ReturnType<LiveStreamsStore['findForViewers']> {
    return this.#store.findForViewers(liveStreamId);
  }

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
