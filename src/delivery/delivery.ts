import { gzipSync } from 'node:zlib';
import { type AddressOf, addressReader } from '../http/listener/client-address.ts';
import type { BrowserBundles } from '../http/pages/browser-bundles.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import type { FileSlice } from '../shared/files/file-slice.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { RenderedText as OwnText } from '../shared/text/rendered-text.ts';
import { type DeliveryObserver, silentObserver } from './delivery-observer.ts';
import { type AdmittedStream, type LiveAdmissionRequest, LiveGate } from './live/live-gate.ts';
import type {
  LiveSource,
  LiveStreamDirectory,
  MediaResponse,
  PlaylistResponse,
  RenderedText,
} from './live/live-source.ts';
import { describeState, StateEvents } from './live/state-events.ts';
import { type LiveFrameSource, type Thumbnail, Thumbnails } from './live/thumbnails.ts';
import { ViewerCount } from './live/viewer-count.ts';
import { describeEmbed, type ShareablePage, socialMeta } from './pages/page-sharing.ts';
import { loadPlayerFiles, type PlayerFiles, placeholderThumbnail } from './pages/player-files.ts';
import {
  negotiatePageEncoding,
  noIndexMeta,
  pageContentType,
  pageHeaders,
  pageHeadersFor,
  renderPlayerPage,
  streamTitle,
} from './pages/player-page.ts';
import type { PrivateSessions } from './private-sessions.ts';
import type { Exchange, ViewerReply, ViewerRequest, ViewerResponse } from './responses/exchange.ts';
import { PendingResponses } from './responses/pending-responses.ts';
import { allowedMethods, notFoundText, ResponseSender } from './responses/response-sender.ts';
import { StallGuard } from './responses/stall-guard.ts';
import { cacheControlFor } from './token-gate.ts';
import { addSessionToPlaylist, type PrivatePath, parseViewerPath, type ViewerPath } from './viewer-path.ts';
import { VodDelivery } from './vod/vod-delivery.ts';
import { parseVodPath, type VodPath } from './vod/vod-path.ts';
import type { ResponseBody, VodSource } from './vod/vod-source.ts';

/** Values and neighbours of {@link Delivery}. */
export interface DeliveryOptions {
  readonly live: LiveSource;
  readonly streams: LiveStreamDirectory;
  /** Pictures of live streams that have no uploaded image; none unless given. */
  readonly frames?: LiveFrameSource;
  /** Without it there are no videos. */
  readonly vod?: VodSource;
  /** The logo of a player theme, if it has one of this format. */
  readonly logo?: (playerId: string, extension: 'png' | 'jpg') => ResponseBody | undefined;
  /** Who may see private videos; nobody unless given. */
  readonly sessions?: PrivateSessions;
  /** The server's address as others know it, without a slash at its end. Pages tell sites that they are shared on nothing without it. */
  readonly publicUrl?: () => string;
  /** Base of the `type` of errors, without a slash at its end; `/docs/errors` unless given. */
  readonly docsBase?: () => string;
  /** The browser code of the player's pages. */
  readonly bundles: BrowserBundles;
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
  /** Counts the viewers of live streams; a count of its own unless given. */
  readonly viewers?: ViewerCount;
}

/** Paths whose answers are made of the player's files. */
const kindsNeedingPlayerFiles: ReadonlySet<string> = new Set(['page', 'asset', 'vod-page', 'vod-sample']);
const noVideos: VodSource = {
  find: () => undefined,
  multivariant: async () => undefined,
  captionsPlaylist: () => undefined,
  mediaPlaylist: async () => undefined,
  media: async () => undefined,
  file: async () => undefined,
  textTrack: () => undefined,
};
/** What all paths of a live stream's media have in common. */
type StreamPath = PrivatePath & { readonly liveStreamId: string };

const playlistType = 'application/vnd.apple.mpegurl';
const maxUrlLength = 2048;
const notLiveText = 'Nothing is being broadcast here.';
/** So long may an uploaded image be kept; and one that becomes another while the stream is on. */
const imageSeconds = 60;
const frameSeconds = 10;
/** For what depends on the moment. */
const noCache = 'no-cache';
/** For errors: a cached one would outlive its cause. */
const noStore = 'no-store';

/**
 * Answers what viewers fetch: playlists, media, images and player pages; of live streams all from memory, of videos from files.
 *
 * **Source**: draft-pantos-hls-rfc8216bis, HTTP Live Streaming 2nd Edition, 6.2 and B.1 (caching)
 */
export class Delivery implements Component {
  readonly name = 'delivery';
  readonly #live: LiveSource;
  readonly #streams: LiveStreamDirectory;
  readonly #bundles: BrowserBundles;
  readonly #frames: LiveFrameSource;
  readonly #gate: LiveGate;
  readonly #logo: NonNullable<DeliveryOptions['logo']>;
  readonly #observer: DeliveryObserver;
  readonly #addressOf: AddressOf;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;
  readonly #guard: StallGuard;
  readonly #sender: ResponseSender;
  readonly #pending: PendingResponses;
  readonly #events: StateEvents;
  readonly #vod: VodDelivery;
  readonly #viewers: ViewerCount;
  readonly #thumbnails = new Thumbnails();
  #loadingFiles: Promise<void> | undefined;
  #loadedFiles: PlayerFiles | undefined;

  constructor(options: DeliveryOptions) {
    this.#live = options.live;
    this.#streams = options.streams;
    this.#bundles = options.bundles;
    this.#frames = options.frames ?? { hasFrame: () => false, frame: async () => undefined };
    this.#logo = options.logo ?? (() => undefined);
    this.#observer = options.observer ?? silentObserver;
    this.#clock = options.clock ?? systemClock;
    this.#addressOf = options.addressOf ?? addressReader([]);
    this.#guard = new StallGuard(this.#clock, options.viewerStallMs ?? 10_000, () =>
      this.#observer.viewerDropped('viewer-stalled'),
    );
    this.#sender = new ResponseSender(
      this.#guard,
      this.#observer,
      options.docsBase ?? (() => '/docs/errors'),
    );
    this.#pending = new PendingResponses(this.#sender, options.log);
    this.#events = new StateEvents({
      live: this.#live,
      observer: this.#observer,
      maxClients: options.maxEventClients ?? 20_000,
      maxClientsPerStream: options.maxEventClientsPerStream ?? 5000,
      heartbeatMs: options.heartbeatMs ?? 15_000,
    });
    this.#publicUrl = options.publicUrl ?? (() => '');
    const tokens = {
      sessions: options.sessions ?? { admit: () => undefined },
      publicUrl: this.#publicUrl,
      clock: this.#clock,
    };
    this.#gate = new LiveGate({ ...tokens, streams: this.#streams });
    this.#vod = new VodDelivery({
      ...tokens,
      source: options.vod ?? noVideos,
      sender: this.#sender,
      pending: this.#pending,
      files: () => this.#files(),
    });
    this.#viewers = options.viewers ?? new ViewerCount(this.#clock);
  }

  async start(): Promise<void> {}

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
    return this.#viewers.count(liveStreamId);
  }

  /** {@link viewers} over all streams. */
  totalViewers(): number {
    return this.#viewers.total();
  }

  /** Returns the methods of a path for viewers; undefined for all other paths. */
  allowedMethods(path: string): string | undefined {
    return (parseVodPath(path) ?? parseViewerPath(path)) === undefined ? undefined : allowedMethods;
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
    const exchange: Exchange = {
      kind: path.kind === 'vod-asset' ? path.asset.kind : path.kind,
      isHead: request.method === 'HEAD',
      request,
      reply: response as ViewerResponse & ViewerReply,
    };
    try {
      if (url.length > maxUrlLength) {
        this.#sender.sendError(exchange, 414, 'The address is too long.', noStore);
      } else if (request.method === 'GET' || request.method === 'HEAD') {
        this.#dispatch(exchange, path, queryAt === -1 ? '' : url.slice(queryAt + 1));
      } else if (request.method === 'OPTIONS') {
        this.#sender.sendPreflight(exchange);
      } else {
        const allow = ['Allow', allowedMethods];
        this.#sender.sendError(exchange, 405, 'Only GET, HEAD and OPTIONS work here.', noStore, allow);
      }
    } catch (error) {
      this.#pending.fail(exchange, error);
    }
    return true;
  }

  #dispatch(exchange: Exchange, path: ViewerPath | VodPath, query: string): void {
    if (this.#loadedFiles === undefined && kindsNeedingPlayerFiles.has(path.kind)) {
      this.#pending.hold(exchange, this.#loadFiles(), () => this.#dispatch(exchange, path, query));
      return;
    }
    switch (path.kind) {
      case 'vod-asset':
      case 'vod-page':
      case 'vod-oembed':
      case 'vod-sample':
        this.#vod.answer(exchange, path, query);
        break;
      case 'media':
        this.#answerMedia(exchange, path, query);
        break;
      case 'playlist':
        this.#answerPlaylist(exchange, path, query);
        break;
      case 'multivariant':
        this.#answerMultivariant(exchange, path, query);
        break;
      case 'state':
        this.#answerState(exchange, path.liveStreamId, query);
        break;
      case 'events':
        this.#answerEvents(exchange, path.liveStreamId, query);
        break;
      case 'page':
        this.#answerPage(exchange, path.liveStreamId, query);
        break;
      case 'oembed':
        this.#answerEmbed(exchange, path.liveStreamId, new URLSearchParams(query));
        break;
      case 'thumbnail':
        this.#answerThumbnail(exchange, path, query);
        break;
      case 'session':
        this.#answerSession(exchange, path, query);
        break;
      case 'asset':
        this.#answerAsset(exchange, path.name);
        break;
      case 'logo':
        this.#answerLogo(exchange, path);
        break;
      case 'unknown':
        this.#notFound(exchange);
        break;
    }
  }

  #answerMedia(exchange: Exchange, path: ViewerPath & { kind: 'media' }, query: string): void {
    const playable = this.#live.find(path.liveStreamId, path.broadcastId);
    const stream =
      playable && attributeTraffic(exchange, this.#gate.admitToMedia(mediaAdmission(exchange, path, query)));
    if (playable === undefined || stream === undefined) {
      this.#notFound(exchange);
      return;
    }
    const abort = new AbortController();
    const answer = playable.media(path.rendition, path.name, abort.signal);
    if ('then' in answer)
      this.#pending.hold(exchange, answer, media => this.#sendMedia(exchange, media, stream), abort);
    else this.#sendMedia(exchange, answer, stream);
  }

  #sendMedia(exchange: Exchange, answer: MediaResponse, { access, headers }: AdmittedStream): void {
    if (answer.status === 404) {
      this.#notFound(exchange);
      return;
    }
    const cacheControl = cacheControlFor(access, `max-age=${Math.floor(answer.lifetimeSeconds)}, immutable`);
    const { body } = answer;
    if (isInMemory(body)) {
      this.#sender.sendBuffers(exchange, { ...answer, body, cacheControl, headers });
      return;
    }
    const pieced = Promise.resolve({ ...answer, parts: body });
    this.#pending.hold(exchange, pieced, media =>
      this.#sender.sendBody(exchange, media, { cacheControl, headers }),
    );
  }

  #answerPlaylist(exchange: Exchange, path: ViewerPath & { kind: 'playlist' }, query: string): void {
    const playable = this.#live.find(path.liveStreamId, path.broadcastId);
    const stream =
      playable && attributeTraffic(exchange, this.#gate.admitToMedia(mediaAdmission(exchange, path, query)));
    if (playable === undefined || stream === undefined) {
      this.#notFound(exchange);
      return;
    }
    const { request } = exchange;
    // A token has one viewer, wherever that is.
    const address = path.token ?? this.#addressOf(request);
    const userAgent = path.token === undefined ? (request.headers['user-agent'] ?? '') : '';
    this.#viewers.recordRequest(path.liveStreamId, address, userAgent);
    const directives = new URLSearchParams(query);
    const abort = new AbortController();
    const answer = playable.mediaPlaylist(path.rendition, directives, abort.signal);
    this.#pending.hold(exchange, answer, playlist => this.#sendPlaylist(exchange, playlist, stream), abort);
  }

  /**
   * Sends a media playlist, with the lifetimes of appendix B.1 in target durations: 6 for a blocking reload, up to 0.5 for others. A
   * blocking reload that found its position listed counts as one of the others: a player that asks again wants news. Errors are not
   * cached, although B.1 allows it: browsers replay them to players after their cause is gone.
   */
  #sendPlaylist(exchange: Exchange, answer: PlaylistResponse, { access, headers }: AdmittedStream): void {
    if (answer.status !== 200) {
      this.#sender.sendError(exchange, answer.status, answer.reason, noStore);
      return;
    }
    const { targetDurationSeconds: target } = answer;
    const isSettled = answer.hasWaited || answer.ended;
    const lifetimeSeconds = isSettled ? 6 * target : Math.min(1, Math.floor(target / 2));
    const lifetime = cacheControlFor(access, `max-age=${lifetimeSeconds}`);
    this.#sender.sendText(exchange, answer.text, playlistType, lifetime, headers);
  }

  /** Who waits for a broadcast does not use a token up: that may be another one than who plays it then. */
  #answerMultivariant(exchange: Exchange, path: StreamPath, query: string): void {
    const { liveStreamId } = path;
    const text = this.#live.current(liveStreamId)?.multivariant();
    const stream =
      text && attributeTraffic(exchange, this.#gate.admitToMedia(mediaAdmission(exchange, path, query)));
    // Neither may be kept: the next broadcast has another playlist under this URL.
    if (text === undefined || stream === undefined) {
      this.#sender.sendError(exchange, 404, notLiveText, noStore);
      return;
    }
    const { access, headers } = stream;
    const own =
      access === undefined
        ? text
        : new OwnText(addSessionToPlaylist(text.plain.toString(), liveStreamId, access.avh));
    this.#sender.sendText(exchange, own, playlistType, cacheControlFor(access, noCache), headers);
  }

  #answerSession(exchange: Exchange, path: StreamPath, query: string): void {
    const stream = attributeTraffic(exchange, this.#gate.admit(mediaAdmission(exchange, path, query)));
    if (stream === undefined) this.#notFound(exchange);
    else this.#sendJson(exchange, JSON.stringify({ session_token: stream.access?.avh }), stream.headers);
  }

  #answerState(exchange: Exchange, liveStreamId: string, query: string): void {
    const stream = this.#admitToPage(exchange, liveStreamId, query);
    if (stream === undefined) this.#notFound(exchange);
    else this.#sendJson(exchange, describeState(this.#live, liveStreamId), stream.headers);
  }

  #answerEvents(exchange: Exchange, liveStreamId: string, query: string): void {
    const stream = this.#admitToPage(exchange, liveStreamId, query);
    if (stream === undefined) {
      this.#notFound(exchange);
      return;
    }
    if (!this.#events.hasRoom(liveStreamId)) {
      const retry = ['Retry-After', '10'];
      this.#sender.sendError(
        exchange,
        503,
        'Too many pages are open; ask for the state instead.',
        noStore,
        retry,
      );
      return;
    }
    if (!this.#sender.startEvents(exchange)) return;
    this.#events.add(liveStreamId, exchange.reply, () => this.#gate.stillAdmits(liveStreamId, stream.access));
  }

  #answerPage(exchange: Exchange, liveStreamId: string, query: string): void {
    const stream = liveStreamId === '' ? undefined : this.#admitToPage(exchange, liveStreamId, query);
    const files = this.#files();
    if (stream === undefined) {
      this.#sendStaticPage(exchange, 404, files.notFound);
      return;
    }
    const broadcastId = this.#live.current(liveStreamId)?.broadcastId;
    const isShared = stream.access === undefined && this.#publicUrl() !== '';
    const page = renderPlayerPage(files.page, {
      liveStreamId,
      name: stream.name,
      meta: isShared
        ? socialMeta(this.#sharedStream(liveStreamId, stream.name), this.#publicUrl())
        : noIndexMeta,
      hasThumbnail:
        this.#streams.thumbnailPath(liveStreamId) !== undefined ||
        (broadcastId !== undefined && this.#frames.hasFrame(broadcastId)),
      access: stream.access,
      theme: this.#streams.theme?.(liveStreamId),
      state: describeState(this.#live, liveStreamId),
      nowMs: this.#clock.nowMs(),
    });
    const { isGzip, headers } = negotiatePageEncoding(exchange.request);
    const body = isGzip ? gzipSync(page, { level: 1 }) : Buffer.from(page);
    const own = pageHeadersFor(stream.access);
    this.#sender.sendDocument(exchange, 200, body, pageContentType, [...own, ...headers, ...stream.headers]);
  }

  /** Answers oEmbed for public streams only. */
  #answerEmbed(exchange: Exchange, liveStreamId: string, query: URLSearchParams): void {
    const { request } = exchange;
    const stream = attributeTraffic(
      exchange,
      this.#gate.admit({ request, liveStreamId, query, mayClaimToken: false }),
    );
    if (stream === undefined) {
      this.#notFound(exchange);
      return;
    }
    const shared = this.#sharedStream(liveStreamId, stream.name);
    this.#sendJson(exchange, JSON.stringify(describeEmbed(shared, this.#publicUrl(), query)), []);
  }

  #sharedStream(liveStreamId: string, name: string): ShareablePage {
    return {
      title: streamTitle(name),
      path: `/live/${liveStreamId}`,
      imagePath: `/${liveStreamId}/thumbnail.jpg`,
      size: this.#live.current(liveStreamId)?.pictureSize,
    };
  }

  #admitToPage(exchange: Exchange, liveStreamId: string, query: string): AdmittedStream | undefined {
    const parameters = new URLSearchParams(query);
    return attributeTraffic(exchange, this.#gate.admitToPage(exchange.request, liveStreamId, parameters));
  }

  #sendStaticPage(exchange: Exchange, status: number, page: RenderedText): void {
    const { isGzip, headers } = negotiatePageEncoding(exchange.request);
    const body = isGzip ? page.gzip : page.plain;
    this.#sender.sendDocument(exchange, status, body, pageContentType, [...pageHeaders, ...headers]);
  }

  #answerThumbnail(exchange: Exchange, path: StreamPath, query: string): void {
    const stream = attributeTraffic(exchange, this.#gate.admit(mediaAdmission(exchange, path, query)));
    if (stream === undefined) {
      this.#notFound(exchange);
      return;
    }
    this.#pending.hold(exchange, this.#imageOf(path.liveStreamId), ({ image, seconds }) => {
      const { body, contentType, etag } = image;
      this.#sender.sendBuffers(exchange, {
        body: [body],
        bytes: body.length,
        contentType,
        etag,
        cacheControl: cacheControlFor(stream.access, `max-age=${seconds}`),
        headers: [...stream.headers, 'X-Content-Type-Options', 'nosniff'],
      });
    });
  }

  /** The uploaded image, else a picture of what is on, or was until a moment ago, else the placeholder. */
  async #imageOf(liveStreamId: string): Promise<{ image: Thumbnail; seconds: number }> {
    const path = this.#streams.thumbnailPath(liveStreamId);
    const uploaded = path === undefined ? undefined : await this.#thumbnails.read(path);
    if (uploaded !== undefined) return { image: uploaded, seconds: imageSeconds };
    const broadcastId = this.#live.current(liveStreamId)?.broadcastId;
    const frame = broadcastId === undefined ? undefined : await this.#frames.frame(broadcastId);
    return { image: frame ?? placeholderThumbnail(), seconds: frameSeconds };
  }

  /** Another image may come under this address at any time. */
  #answerLogo(exchange: Exchange, { playerId, extension }: ViewerPath & { kind: 'logo' }): void {
    const logo = this.#logo(playerId, extension);
    if (logo === undefined) {
      this.#notFound(exchange);
      return;
    }
    const headers = ['X-Content-Type-Options', 'nosniff'];
    this.#pending.hold(exchange, Promise.resolve(logo), body =>
      this.#sender.sendBody(exchange, body, { cacheControl: noCache, headers }),
    );
  }

  #answerAsset(exchange: Exchange, name: string): void {
    const file = this.#files().byName.get(name);
    if (file === undefined) {
      this.#notFound(exchange);
      return;
    }
    this.#sender.sendText(exchange, file.text, file.contentType, 'max-age=31536000, immutable', [
      'X-Content-Type-Options',
      'nosniff',
    ]);
  }

  #sendJson(exchange: Exchange, text: string, headers: readonly string[]): void {
    const caching = ['Cache-Control', 'no-store', ...headers];
    this.#sender.sendDocument(exchange, 200, Buffer.from(text), 'application/json', caching);
  }

  #notFound(exchange: Exchange): void {
    this.#sender.sendError(exchange, 404, notFoundText, noStore);
  }

  /** Those of the player's pages; they are loaded before a request for one is answered. */
  #files(): PlayerFiles {
    if (this.#loadedFiles === undefined) throw new Error('the files of the player are not loaded');
    return this.#loadedFiles;
  }

  /** Loads them when they are first needed; the next request tries again what failed. */
  #loadFiles(): Promise<void> {
    this.#loadingFiles ??= loadPlayerFiles(this.#bundles)
      .then(files => {
        this.#loadedFiles = files;
      })
      .finally(() => {
        this.#loadingFiles = undefined;
      });
    return this.#loadingFiles;
  }
}

/** What is answered is counted for the stream's project. */
function attributeTraffic(
  exchange: Exchange,
  stream: AdmittedStream | undefined,
): AdmittedStream | undefined {
  exchange.trafficOwner = stream?.payer;
  return stream;
}

/** Any request for the media of a stream uses its token up. */
function mediaAdmission({ request }: Exchange, path: StreamPath, query: string): LiveAdmissionRequest {
  const { liveStreamId, token, session } = path;
  return {
    ...{ request, liveStreamId, query: new URLSearchParams(query), mayClaimToken: true },
    ...(token === undefined ? {} : { token }),
    ...(session === undefined ? {} : { session }),
  };
}

function isInMemory(body: readonly (Buffer | FileSlice)[]): body is readonly Buffer[] {
  return body.every(piece => Buffer.isBuffer(piece));
}
