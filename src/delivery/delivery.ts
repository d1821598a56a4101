import { gzipSync } from 'node:zlib';
import { type AddressOf, addressReader } from '../http/peer.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { AnswerSender, allowedMethods, notFoundText } from './answer-sender.ts';
import { type DeliveryObserver, silentObserver } from './delivery-observer.ts';
import type {
  LivePlayable,
  LiveSource,
  MediaAnswer,
  PlaylistAnswer,
  RenderedText,
  StreamDirectory,
} from './live-source.ts';
import { PendingAnswers } from './pending-answers.ts';
import { loadPlayerFiles, type PlayerFiles } from './player-files.ts';
import { pageForm, pageHeaders, pageType, renderPlayerPage } from './player-page.ts';
import type { PrivateSessions } from './private-sessions.ts';
import { StallGuard } from './stall-guard.ts';
import { describeState, StateEvents } from './state-events.ts';
import { Thumbnails } from './thumbnails.ts';
import { ViewerCount } from './viewer-count.ts';
import { parseViewerPath, type ViewerPath } from './viewer-path.ts';
import type { Exchange, ViewerReply, ViewerRequest, ViewerResponse } from './viewer-reply.ts';
import { VodDelivery } from './vod-delivery.ts';
import { parseVodPath, type VodPath } from './vod-path.ts';
import type { PiecedBody, VodSource } from './vod-source.ts';

/** Values and neighbours of {@link Delivery}. */
export interface DeliveryOptions {
  readonly live: LiveSource;
  readonly streams: StreamDirectory;
  /** Without it there are no videos. */
  readonly vod?: VodSource;
  /** The logo of a player theme, if it has one of this format. */
  readonly logo?: (playerId: string, extension: 'png' | 'jpg') => PiecedBody | undefined;
  /** Who may see private videos; nobody unless given. */
  readonly sessions?: PrivateSessions;
  /** The server's address as others know it, without a slash at its end. Pages tell sites that they are shared on nothing without it. */
  readonly publicUrl?: () => string;
  readonly log: Logger;
  readonly observer?: DeliveryObserver;
  readonly clock?: Clock;
  /** Tells the address of a client; that of its connection unless given. */
  readonly addressOf?: AddressOf;
  /** A viewer who reads nothing for this long is cut off; 10,000 ms unless given. */
  readonly viewerStallMs?: number;
  /** Open player pages that are told of state changes, over all streams; 20,000 unless given. */
  readonly maxEventClients?: number;
  /** The same for one stream; 5,000 unless given. */
  readonly maxEventClientsPerStream?: number;
  /** How often an event stream without events says that it is alive; 15,000 ms unless given. */
  readonly heartbeatMs?: number;
  /** Clients that are counted as viewers at one time, over all streams; 100,000 unless given. */
  readonly maxCountedViewers?: number;
}

const noVideos: VodSource = {
  find: () => undefined,
  multivariant: async () => undefined,
  mediaPlaylist: async () => undefined,
  media: async () => undefined,
  file: async () => undefined,
  textTrack: () => undefined,
};
const playlistType = 'application/vnd.apple.mpegurl';
const maxUrlLength = 2048;
/** How long a playing broadcast is served without asking again whether its stream is public. */
const publicForMs = 1000;
/** For what depends on the moment, and for errors that must be over as soon as their cause is. */
const noCache = 'no-cache';

/**
 * Answers what viewers fetch: playlists, media, images and player pages; of live streams all from memory, of videos from files.
 *
 * **Source**: draft-pantos-hls-rfc8216bis, HTTP Live Streaming 2nd Edition, 6.2 and B.1 (caching)
 */
export class Delivery implements Component {
  readonly name = 'delivery';
  readonly #live: LiveSource;
  readonly #streams: StreamDirectory;
  readonly #logo: NonNullable<DeliveryOptions['logo']>;
  readonly #observer: DeliveryObserver;
  readonly #addressOf: AddressOf;
  readonly #clock: Clock;
  readonly #guard: StallGuard;
  readonly #sender: AnswerSender;
  readonly #pending: PendingAnswers;
  readonly #events: StateEvents;
  readonly #vod: VodDelivery;
  readonly #viewers: ViewerCount;
  readonly #thumbnails = new Thumbnails();
  /** Until when (monotonic ms) a broadcast may be served without asking the directory. */
  readonly #publicUntilMs = new WeakMap<LivePlayable, number>();
  #loadedFiles: PlayerFiles | undefined;

  constructor(options: DeliveryOptions) {
    this.#live = options.live;
    this.#streams = options.streams;
    this.#logo = options.logo ?? (() => undefined);
    this.#observer = options.observer ?? silentObserver;
    this.#clock = options.clock ?? systemClock;
    this.#addressOf = options.addressOf ?? addressReader([]);
    this.#guard = new StallGuard(this.#clock, options.viewerStallMs ?? 10_000, () =>
      this.#observer.viewerDropped('viewer-stalled'),
    );
    this.#sender = new AnswerSender(this.#guard, this.#observer);
    this.#pending = new PendingAnswers(this.#sender, options.log);
    this.#events = new StateEvents({
      live: this.#live,
      observer: this.#observer,
      maxClients: options.maxEventClients ?? 20_000,
      maxClientsPerStream: options.maxEventClientsPerStream ?? 5000,
      heartbeatMs: options.heartbeatMs ?? 15_000,
    });
    this.#vod = new VodDelivery({
      source: options.vod ?? noVideos,
      sessions: options.sessions ?? { admit: () => undefined },
      publicUrl: options.publicUrl ?? (() => ''),
      sender: this.#sender,
      pending: this.#pending,
      files: () => this.#files(),
      clock: this.#clock,
    });
    this.#viewers = new ViewerCount(this.#clock, options.maxCountedViewers ?? 100_000);
  }

  /** Reads the player page's files, so that the first viewer does not wait for that. */
  async start(): Promise<void> {
    this.#files();
  }

  /** Ends the event streams. Viewers go on fetching what there is. */
  async drain(): Promise<void> {
    this.#events.drain();
  }

  /** Ends the event streams and every held request. */
  async stop(): Promise<void> {
    this.#events.stop();
    this.#pending.end();
    this.#guard.stop();
  }

  /** Clients that play this stream: those that asked for its media playlist in the last ten seconds. */
  viewers(liveStreamId: string): number {
    return this.#viewers.of(liveStreamId);
  }

  /** {@link viewers} over all streams. */
  totalViewers(): number {
    return this.#viewers.total();
  }

  /**
   * Answers a request if its path is one for viewers.
   *
   * @returns false when it is not; then nothing has been done, and someone else must answer.
   */
  handle(request: ViewerRequest, response: ViewerResponse): boolean {
    const url = request.url ?? '/';
    const queryAt = url.indexOf('?');
    const pathText = queryAt === -1 ? url : url.slice(0, queryAt);
    const path = parseVodPath(pathText) ?? parseViewerPath(pathText);
    if (path === undefined) return false;
    // What is no browser gets the API's word on its root.
    if (path.kind === 'home' && !request.headers.accept?.includes('text/html')) return false;
    const exchange: Exchange = {
      kind: path.kind === 'vod-asset' ? path.asset.kind : path.kind,
      isHead: request.method === 'HEAD',
      request,
      reply: response as ViewerResponse & ViewerReply,
    };
    try {
      if (url.length > maxUrlLength) {
        this.#sender.sentence(exchange, 414, 'The address is too long.', noCache);
      } else if (request.method === 'GET' || request.method === 'HEAD') {
        this.#answer(exchange, path, queryAt === -1 ? '' : url.slice(queryAt + 1));
      } else if (request.method === 'OPTIONS') {
        this.#sender.preflight(exchange);
      } else {
        const allow = ['Allow', allowedMethods];
        this.#sender.sentence(exchange, 405, 'Only GET, HEAD and OPTIONS work here.', noCache, allow);
      }
    } catch (error) {
      this.#pending.fail(exchange, error);
    }
    return true;
  }

  #answer(exchange: Exchange, path: ViewerPath | VodPath, query: string): void {
    switch (path.kind) {
      case 'vod-asset':
      case 'vod-page':
      case 'vod-oembed':
        this.#vod.answer(exchange, path, query);
        break;
      case 'media':
        this.#answerMedia(exchange, path);
        break;
      case 'playlist':
        this.#answerPlaylist(exchange, path, query);
        break;
      case 'multivariant':
        this.#answerMultivariant(exchange, path.liveStreamId);
        break;
      case 'state':
        this.#answerState(exchange, path.liveStreamId);
        break;
      case 'events':
        this.#answerEvents(exchange, path.liveStreamId);
        break;
      case 'page':
        this.#answerPage(exchange, path.liveStreamId);
        break;
      case 'home':
        this.#answerFixedPage(exchange, 200, this.#files().home);
        break;
      case 'thumbnail':
        this.#answerThumbnail(exchange, path.liveStreamId);
        break;
      case 'asset':
        this.#answerAsset(exchange, path.name);
        break;
      case 'logo':
        this.#answerLogo(exchange, path);
        break;
      case 'unknown':
        this.#notFound(exchange, noCache);
        break;
    }
  }

  #answerMedia(exchange: Exchange, path: ViewerPath & { kind: 'media' }): void {
    const playable = this.#find(path);
    if (playable === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    const abort = new AbortController();
    const answer = playable.media(path.rendition, path.name, abort.signal);
    if ('then' in answer)
      this.#pending.hold(exchange, answer, media => this.#sendMedia(exchange, media), abort);
    else this.#sendMedia(exchange, answer);
  }

  #sendMedia(exchange: Exchange, answer: MediaAnswer): void {
    if (answer.status === 404) {
      this.#notFound(exchange, `max-age=${answer.targetDurationSeconds}`);
      return;
    }
    const cacheControl = `max-age=${Math.floor(answer.lifetimeSeconds)}, immutable`;
    this.#sender.shared(exchange, { ...answer, cacheControl });
  }

  #answerPlaylist(exchange: Exchange, path: ViewerPath & { kind: 'playlist' }, query: string): void {
    const playable = this.#find(path);
    if (playable === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    const { request } = exchange;
    this.#viewers.seen(path.liveStreamId, this.#addressOf(request), request.headers['user-agent'] ?? '');
    const directives = new URLSearchParams(query);
    const abort = new AbortController();
    const answer = playable.mediaPlaylist(path.rendition, directives, abort.signal);
    const isBlocking = directives.has('_HLS_msn');
    this.#pending.hold(
      exchange,
      answer,
      playlist => this.#sendPlaylist(exchange, playlist, isBlocking),
      abort,
    );
  }

  /** Lifetimes as in appendix B.1, in target durations: a blocking reload 6, its failure 4; a plain one up to 0.5, its failure 1. */
  #sendPlaylist(exchange: Exchange, answer: PlaylistAnswer, isBlocking: boolean): void {
    const { targetDurationSeconds: target } = answer;
    if (answer.status !== 200) {
      const lifetime = `max-age=${isBlocking ? 4 * target : target}`;
      this.#sender.sentence(exchange, answer.status, answer.reason, lifetime);
      return;
    }
    const isSettled = answer.blocking || answer.ended;
    const lifetimeSeconds = isSettled ? 6 * target : Math.min(1, Math.floor(target / 2));
    this.#sender.text(exchange, answer.text, playlistType, `max-age=${lifetimeSeconds}`);
  }

  #answerMultivariant(exchange: Exchange, liveStreamId: string): void {
    const playable = this.#live.current(liveStreamId);
    const isPublic = playable !== undefined && this.#isPublic(playable, liveStreamId);
    const text = isPublic ? playable.multivariant() : undefined;
    // Neither may be kept: the next broadcast has another playlist under this URL.
    if (text === undefined) this.#sender.sentence(exchange, 404, 'Nothing is being broadcast here.', noCache);
    else this.#sender.text(exchange, text, playlistType, noCache);
  }

  #answerState(exchange: Exchange, liveStreamId: string): void {
    if (this.#publicStream(liveStreamId) === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    const body = Buffer.from(describeState(this.#live, liveStreamId));
    this.#sender.document(exchange, 200, body, 'application/json', ['Cache-Control', 'no-store']);
  }

  #answerEvents(exchange: Exchange, liveStreamId: string): void {
    if (this.#publicStream(liveStreamId) === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    if (!this.#events.hasRoom(liveStreamId)) {
      const retry = ['Retry-After', '10'];
      this.#sender.sentence(
        exchange,
        503,
        'Too many pages are open; ask for the state instead.',
        noCache,
        retry,
      );
      return;
    }
    if (this.#sender.startEvents(exchange)) this.#events.add(liveStreamId, exchange.reply);
  }

  #answerPage(exchange: Exchange, liveStreamId: string): void {
    const stream = liveStreamId === '' ? undefined : this.#publicStream(liveStreamId);
    const files = this.#files();
    if (stream === undefined) {
      this.#answerFixedPage(exchange, 404, files.notFound);
      return;
    }
    const page = renderPlayerPage(files.page, {
      liveStreamId,
      name: stream.name,
      hasThumbnail: this.#streams.thumbnailPath(liveStreamId) !== undefined,
      theme: this.#streams.theme?.(liveStreamId),
      state: describeState(this.#live, liveStreamId),
      nowMs: this.#clock.nowMs(),
    });
    const { isGzip, headers } = pageForm(exchange.request);
    const body = isGzip ? gzipSync(page, { level: 1 }) : Buffer.from(page);
    this.#sender.document(exchange, 200, body, pageType, [...pageHeaders, ...headers]);
  }

  #answerFixedPage(exchange: Exchange, status: number, page: RenderedText): void {
    const { isGzip, headers } = pageForm(exchange.request);
    const body = isGzip ? page.gzip : page.plain;
    this.#sender.document(exchange, status, body, pageType, [...pageHeaders, ...headers]);
  }

  #answerThumbnail(exchange: Exchange, liveStreamId: string): void {
    if (this.#publicStream(liveStreamId) === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    const path = this.#streams.thumbnailPath(liveStreamId);
    const { placeholder } = this.#files();
    const answer = path === undefined ? Promise.resolve(undefined) : this.#thumbnails.read(path);
    this.#pending.hold(exchange, answer, uploaded => {
      const { body, contentType, etag } = uploaded ?? placeholder;
      this.#sender.shared(exchange, {
        body: [body],
        bytes: body.length,
        contentType,
        etag,
        cacheControl: 'max-age=60',
      });
    });
  }

  /** Another image may come under this address at any time. */
  #answerLogo(exchange: Exchange, { playerId, extension }: ViewerPath & { kind: 'logo' }): void {
    const logo = this.#logo(playerId, extension);
    if (logo === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    const headers = ['X-Content-Type-Options', 'nosniff'];
    this.#pending.hold(exchange, Promise.resolve(logo), body =>
      this.#sender.pieced(exchange, body, { cacheControl: noCache, headers }),
    );
  }

  #answerAsset(exchange: Exchange, name: string): void {
    const file = this.#files().byName.get(name);
    if (file === undefined) {
      this.#notFound(exchange, noCache);
      return;
    }
    this.#sender.text(exchange, file.text, file.contentType, 'max-age=31536000, immutable', [
      'X-Content-Type-Options',
      'nosniff',
    ]);
  }

  #find(path: { liveStreamId: string; broadcastId: string }): LivePlayable | undefined {
    const playable = this.#live.find(path.liveStreamId, path.broadcastId);
    return playable !== undefined && this.#isPublic(playable, path.liveStreamId) ? playable : undefined;
  }

  #isPublic(playable: LivePlayable, liveStreamId: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const untilMs = this.#publicUntilMs.get(playable);
    if (untilMs !== undefined && nowMs < untilMs) return true;
    if (this.#publicStream(liveStreamId) === undefined) return false;
    this.#publicUntilMs.set(playable, nowMs + publicForMs);
    return true;
  }

  #publicStream(liveStreamId: string): { readonly name: string } | undefined {
    const stream = this.#streams.find(liveStreamId);
    return stream?.public === true ? stream : undefined;
  }

  #notFound(exchange: Exchange, cacheControl: string): void {
    this.#sender.sentence(exchange, 404, notFoundText, cacheControl);
  }

  #files(): PlayerFiles {
    this.#loadedFiles ??= loadPlayerFiles();
    return this.#loadedFiles;
  }
}
