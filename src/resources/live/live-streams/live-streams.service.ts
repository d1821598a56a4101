import { notFoundError } from '../../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import type { Clock } from '../../../shared/clock.ts';
import { newId, newUuid } from '../../../shared/ids.ts';
import { type ListResult, mapList } from '../../../shared/list-page.ts';
import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { PrivateTokens } from '../../playback/private-sessions/private-tokens.store.ts';
import type { ThumbnailOwner } from '../../videos/videos/thumbnails/prepare-thumbnail.ts';
import type { LiveControl, RestreamControl } from './live-control.ts';
import { destinationsOf, type LiveSource, type LiveStream, type LiveStreamChanges } from './live-stream.ts';
import { activityView, type LiveStreamView, viewOf } from './live-stream-view.ts';
import type { LiveStreamsStore, StreamKeyOwner } from './live-streams.store.ts';
import type { LiveThumbnailFiles } from './live-thumbnail-files.ts';

interface PlayerLookup {
  /** Keeps the theme until the transaction ends. */
  exists(projectId: string, playerId: string, connection: Connection): Promise<boolean>;
  /** Returns the ids among `playerIds` whose players were deleted. */
  findRemoved(playerIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export class LiveStreamsService {
  readonly #database: Database;
  readonly #store: LiveStreamsStore;
  readonly #thumbnails: LiveThumbnailFiles;
  readonly #live: LiveControl;
  readonly #restreams: RestreamControl;
  readonly #privateTokens: PrivateTokens;
  readonly #baseUrl: () => string;
  readonly #players: PlayerLookup;
  readonly #clock: Clock;

  constructor(options: {
    database: Database;
    store: LiveStreamsStore;
    thumbnails: LiveThumbnailFiles;
    live: LiveControl;
    restreams: RestreamControl;
    privateTokens: PrivateTokens;
    /** Base URL without a trailing slash. */
    baseUrl: () => string;
    players: PlayerLookup;
    clock: Clock;
  }) {
    this.#database = options.database;
    this.#store = options.store;
    this.#thumbnails = options.thumbnails;
    this.#live = options.live;
    this.#restreams = options.restreams;
    this.#privateTokens = options.privateTokens;
    this.#baseUrl = options.baseUrl;
    this.#players = options.players;
    this.#clock = options.clock;
  }

  find(projectId: string, liveStreamId: string): Promise<LiveStream | undefined> {
    return this.#store.find(projectId, liveStreamId);
  }

  async list(...query: Parameters<LiveStreamsStore['list']>): Promise<ListResult<LiveStreamView>> {
    const found = await this.#store.list(...query);
    const removed = await this.#removedPlayersOf(found.items);
    const activity = await this.#store.activityOf(found.items.map(({ liveStreamId }) => liveStreamId));
    return mapList(found, stream => ({
      ...this.#viewOf(stream, removed),
      ...activityView(activity.get(stream.liveStreamId)),
    }));
  }

  /** A view with what happened on the live stream. */
  async viewWithActivity(stream: LiveStream): Promise<LiveStreamView> {
    const activity = await this.#store.activityOf([stream.liveStreamId]);
    return { ...(await this.view(stream)), ...activityView(activity.get(stream.liveStreamId)) };
  }

  async view(stream: LiveStream): Promise<LiveStreamView> {
    return this.#viewOf(stream, await this.#removedPlayersOf([stream]));
  }

  async #removedPlayersOf(streams: readonly LiveStream[]): Promise<ReadonlySet<string>> {
    const playerIds = streams.flatMap(({ playerId = [] }) => playerId);
    return playerIds.length === 0 ? new Set() : this.#players.findRemoved(playerIds);
  }

  #viewOf(stream: LiveStream, removedPlayers: ReadonlySet<string>): LiveStreamView {
    const hasLostPlayer = stream.playerId !== undefined && removedPlayers.has(stream.playerId);
    return viewOf(hasLostPlayer ? { ...stream, playerId: undefined } : stream, {
      baseUrl: this.#baseUrl(),
      nowMs: this.#clock.nowMs(),
      isBroadcasting: this.#live.isBroadcasting(stream.liveStreamId),
      privateToken: stream.public ? undefined : this.#privateTokens.mint(stream.liveStreamId),
    });
  }

  async create(projectId: string, attributes: LiveStreamChanges & { name: string }): Promise<LiveStreamView> {
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
      keepRecordingsDays: attributes.keepRecordingsDays ?? undefined,
      playbackPolicy: attributes.playbackPolicy ?? undefined,
      audioTracks: attributes.audioTracks ?? undefined,
      source: newSource(attributes.source),
      ultraLowLatency: attributes.ultraLowLatency ?? false,
      viewerClips: attributes.viewerClips ?? false,
      listed: attributes.listed ?? false,
      showViewers: attributes.showViewers ?? false,
      startsAtMs: attributes.startsAt ?? undefined,
      thumbnailType: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await this.#database.transaction(async transaction => {
      await this.#checkPlayer(projectId, attributes, transaction);
      await this.#store.add(stream, transaction);
      if (stream.source !== undefined) await this.#announce(stream.liveStreamId, transaction);
    });
    return this.view(stream);
  }

  /** Restreams and the source change at once; qualities, recording and ultra low latency with the next broadcast. */
  async change(stream: LiveStream, changes: LiveStreamChanges): Promise<LiveStreamView> {
    const { projectId, liveStreamId } = stream;
    await this.#database.transaction(async transaction => {
      await this.#checkPlayer(projectId, changes, transaction);
      await this.#store.change(projectId, liveStreamId, changes, this.#clock.nowMs(), transaction);
      if (changes.source !== undefined) await this.#announce(liveStreamId, transaction);
    });
    const changed = await this.#findAgain(stream);
    if (changes.restreams !== undefined) {
      // Applies the stored restreams: another request may have changed them meanwhile.
      const destinations = destinationsOf(changed.restreams);
      this.#database.afterCommit(() => this.#restreams.update(liveStreamId, destinations));
    }
    return this.view(changed);
  }

  async remove(stream: LiveStream): Promise<void> {
    await this.#live.remove(stream.liveStreamId);
    await this.#store.remove(stream.projectId, stream.liveStreamId);
    if (stream.source !== undefined) await this.#announce(stream.liveStreamId, this.#database);
    // An encoder may have started again before the key was removed.
    await this.#live.remove(stream.liveStreamId);
    await this.#thumbnails.removeAll(stream.liveStreamId);
  }

  /** A publisher with the old key stays connected but cannot reconnect. */
  async regenerateKey(stream: LiveStream): Promise<LiveStreamView> {
    await this.#store.setStreamKey(stream.projectId, stream.liveStreamId, newUuid(), this.#clock.nowMs());
    return this.#viewUpdated(stream);
  }

  async complete(stream: LiveStream): Promise<void> {
    await this.#live.complete(stream.liveStreamId);
  }

  /** The encoder that {@link complete} has cut off may publish at once. */
  async allowAgain(stream: LiveStream): Promise<LiveStreamView> {
    await this.#store.setCutOff(stream.liveStreamId, undefined);
    return this.#viewUpdated(stream);
  }

  async setThumbnail(stream: LiveStream, file: UploadedFile, owner: ThumbnailOwner): Promise<LiveStreamView> {
    const type = await this.#thumbnails.put(stream.liveStreamId, file, owner);
    const { projectId, liveStreamId } = stream;
    if (!(await this.#store.setThumbnail(projectId, liveStreamId, type, this.#clock.nowMs()))) {
      // Deleted during the upload.
      await this.#thumbnails.removeAll(liveStreamId);
      throw notFoundError('liveStreamId');
    }
    return this.#viewUpdated(stream);
  }

  async removeThumbnail(stream: LiveStream): Promise<LiveStreamView> {
    await this.#store.setThumbnail(stream.projectId, stream.liveStreamId, null, this.#clock.nowMs());
    await this.#thumbnails.remove(stream.liveStreamId);
    return this.#viewUpdated(stream);
  }

  findByStreamKey(streamKey: string): Promise<StreamKeyOwner | undefined> {
    return this.#store.findByStreamKey(streamKey);
  }

  findForViewers(liveStreamId: string): ReturnType<LiveStreamsStore['findForViewers']> {
    return this.#store.findForViewers(liveStreamId);
  }

  async thumbnailPath(liveStreamId: string): Promise<string | undefined> {
    const stream = await this.#store.findForViewers(liveStreamId);
    return stream?.hasThumbnail === true ? this.#thumbnails.pathOf(liveStreamId) : undefined;
  }

  /** Announces to all servers that the source begins, changes or ends. */
  async #announce(liveStreamId: string, connection: Connection): Promise<void> {
    await this.#database.signals.send('live', liveStreamId, connection);
  }

  async #checkPlayer(
    projectId: string,
    { playerId }: LiveStreamChanges,
    connection: Connection,
  ): Promise<void> {
    if (playerId === undefined || playerId === null) return;
    if (await this.#players.exists(projectId, playerId, connection)) return;
    throw attributeError('playerId', 'This player theme does not exist.');
  }

  async #viewUpdated(stream: LiveStream): Promise<LiveStreamView> {
    return this.view(await this.#findAgain(stream));
  }

  async #findAgain({ projectId, liveStreamId }: LiveStream): Promise<LiveStream> {
    const found = await this.#store.find(projectId, liveStreamId);
    if (found === undefined) throw notFoundError('liveStreamId');
    return found;
  }
}

function newSource(source: LiveStreamChanges['source']): LiveSource | undefined {
  if (source === undefined || source === null) return undefined;
  return { url: source.url, isEnabled: source.enabled ?? true, status: undefined };
}
