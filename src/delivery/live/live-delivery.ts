import { announcedStart } from '../../shared/announced-start.ts';
import { basePathOf } from '../../shared/network/base-path.ts';
import { type CompressedText, RenderedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistRefusal, PlaylistResponse } from '../../shared/viewer-responses.ts';
import { sendMissingPage, sendRefusedPage, sendRenderedPage } from '../pages/page-sender.ts';
import { describeEmbed, pageMeta, type ShareablePage, shareableStream } from '../pages/page-sharing.ts';
import { placeholderThumbnail } from '../pages/player-files.ts';
import { describeLivePlayer, renderPlayerPage, streamTitle } from '../pages/player-page.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';
import { isWatchPage, renderWatchPage } from '../pages/watch-page.ts';
import type { WatchedRecording } from '../pages/watch-source.ts';
import { PlaybackRefusal } from '../playback-gate.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import {
  accessCaching,
  briefCaching,
  cacheControlFor,
  isForEverybody,
  maxAge,
} from '../responses/cache-control.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { PendingResponses } from '../responses/pending-responses.ts';
import { playlistType, type ResponseSender } from '../responses/response-sender.ts';
import { isSignedToken } from '../signed-tokens.ts';
import { addressPlaylist } from './address-playlist.ts';
import { calendarEvent } from './calendar-event.ts';
import type { LiveDeliveryOptions } from './live-delivery-options.ts';
import { type AdmittedStream, type LiveAnswer, LiveGate } from './live-gate.ts';
import {
  admissionRequest,
  type BroadcastPath,
  type RenditionPath,
  type StreamPath,
  watchedOf,
} from './live-request.ts';
import type { LiveSource, LiveStreamDirectory, PlayableBroadcast } from './live-source.ts';
import { describeState } from './state-events.ts';
import { type Thumbnail, Thumbnails } from './thumbnails.ts';
import { latencyModeOf } from './viewer-count.ts';

interface PageExtras {
  readonly hasThumbnail: boolean;
  readonly theme: PlayerTheme | undefined;
  readonly viewers: number | undefined;
}

const maxAgeOfUploadedImageSeconds = 60;
/** The next frame follows soon while the stream is live. */
const maxAgeOfFrameSeconds = 10;
/** Sheets with frames of later slots have another address. */
const maxAgeOfSheetSeconds = 600;
/** A cached error would outlive its cause. */
const noStore = 'no-store';

/** **Source**: draft-pantos-hls-rfc8216bis, 6.2 and B.1 (caching) */
export class LiveDelivery {
  readonly #live: LiveSource;
  readonly #streams: LiveStreamDirectory;
  readonly #options: LiveDeliveryOptions;
  readonly #gate: LiveGate;
  readonly #sender: ResponseSender;
  readonly #pending: PendingResponses;
  readonly #thumbnails: Thumbnails;
  /** Playlists with the address of the server, by the playlist without it. */
  readonly #sharedPlaylists = new WeakMap<CompressedText, CompressedText>();

  constructor(options: LiveDeliveryOptions) {
    this.#options = options;
    this.#live = options.live;
    this.#streams = options.streams;
    this.#gate = new LiveGate(options);
    this.#thumbnails = new Thumbnails(options.storage);
    this.#sender = options.sender;
    this.#pending = options.pending;
  }

  releaseMemory(): void {
    this.#thumbnails.clear();
  }

  sendMedia(exchange: Exchange, path: RenditionPath & { readonly name: string }, query: string): void {
    const broadcast = this.#live.find(path.liveStreamId, path.broadcastId);
    if (broadcast === undefined) {
      this.#sender.sendNotFound(exchange, noStore);
      return;
    }
    const admission = this.#gate.admitToMedia(admissionRequest(exchange, path, query));
    this.#respond(exchange, admission, stream =>
      this.#pending.holdShared(
        exchange,
        signal => broadcast.media(path.rendition, path.name, signal),
        found => this.#sendMedia(exchange, found, stream),
      ),
    );
  }

  #sendMedia(
    exchange: Exchange,
    media: MediaResponse | undefined,
    stream: AdmittedStream,
  ): Promise<void> | void {
    if (media === undefined) return this.#sender.sendNotFound(exchange, noStore);
    const caching = `${maxAge(stream, Math.floor(media.lifetimeSeconds))}, immutable`;
    return this.#sender.sendBody(exchange, media, {
      cacheControl: cacheControlFor(stream, caching),
      headers: stream.headers,
    });
  }

  /** A sheet of the storyboard. It shows no more than segments do, and is protected in the same way. */
  sendStoryboard(
    exchange: Exchange,
    path: BroadcastPath & { readonly sheet: string; readonly slots: string },
    query: string,
  ): void {
    const { liveStreamId, broadcastId, sheet, slots } = path;
    if (this.#findOrRedirect(exchange, path) === undefined) return;
    const admission = this.#gate.admitToMedia(admissionRequest(exchange, path, query));
    this.#respond(exchange, admission, stream => {
      const { storyboards } = this.#options;
      const pending = storyboards.sheet(liveStreamId, broadcastId, Number(sheet), Number(slots));
      this.#pending.hold(exchange, pending, image => {
        if (image === undefined) return this.#sender.sendNotFound(exchange, noStore);
        const cacheControl = cacheControlFor(stream, maxAge(stream, maxAgeOfSheetSeconds));
        return this.#sendImage(exchange, image, stream, cacheControl);
      });
    });
  }

  /** Redirects to the server that has the broadcast, or answers that it is gone. */
  #findOrRedirect(
    exchange: Exchange,
    { liveStreamId, broadcastId }: BroadcastPath,
  ): PlayableBroadcast | undefined {
    const broadcast = this.#live.find(liveStreamId, broadcastId);
    if (broadcast === undefined || broadcast.hasMoved) {
      const address = this.#live.otherAddress?.(liveStreamId, broadcastId);
      if (address !== undefined) {
        this.#sender.sendRedirect(exchange, `${address}${exchange.request.url}`);
        return undefined;
      }
    }
    if (broadcast === undefined) this.#sender.sendNotFound(exchange, noStore);
    return broadcast;
  }

  sendPlaylist(exchange: Exchange, path: RenditionPath, query: string): void {
    const broadcast = this.#findOrRedirect(exchange, path);
    if (broadcast === undefined) return;
    this.#admitToPlaylist(exchange, path, query, stream => {
      this.#countViewer(exchange, path, query);
      this.#pending.holdShared(
        exchange,
        signal => broadcast.mediaPlaylist(path.rendition, new URLSearchParams(query), signal),
        found => this.#sendPlaylist(exchange, found, stream),
      );
    });
  }

  /** A private token has one viewer, whatever the address; a signed one may have many. */
  #countViewer(
    { request }: Exchange,
    { liveStreamId, privateToken: token }: StreamPath,
    query: string,
  ): void {
    const { addressOf, viewers } = this.#options;
    const mode = latencyModeOf(request, query);
    if (token === undefined || isSignedToken(token))
      viewers.recordRequest(liveStreamId, addressOf(request), request.headers['user-agent'] ?? '', mode);
    else viewers.recordRequest(liveStreamId, token, '', mode);
  }

  /** Uses the lifetimes of appendix B.1, except for errors: browsers replay cached ones to players, and edges share one that all waited for. */
  #sendPlaylist(
    exchange: Exchange,
    playlist: PlaylistResponse | PlaylistRefusal,
    stream: AdmittedStream,
  ): void {
    const isShared = isForEverybody(stream);
    if (playlist.status !== 200) {
      const caching = playlist.status === 503 && isShared ? briefCaching : noStore;
      this.#sender.sendError(exchange, playlist.status, playlist.reason, caching);
      return;
    }
    const { targetDurationSeconds: target, isBlockingReload, isComplete } = playlist;
    const plain = target < 2 && isShared ? briefCaching : `max-age=${target < 2 ? 0 : 1}`;
    const caching = isBlockingReload || isComplete ? maxAge(stream, 6 * target) : plain;
    const cacheControl = cacheControlFor(stream, caching);
    this.#sender.sendText(exchange, playlist.text, playlistType, cacheControl, stream.headers);
  }

  /** Never cached: the next broadcast reuses the URL. A request before it does not claim the token. */
  sendMultivariant(exchange: Exchange, path: StreamPath, query: string): void {
    const { liveStreamId } = path;
    const refuse = () => this.#sender.sendError(exchange, 404, 'The live stream is offline.', noStore);
    const broadcast = this.#live.current(liveStreamId);
    const text = broadcast?.multivariant();
    if (text === undefined) {
      refuse();
      return;
    }
    const send = (stream: AdmittedStream) => {
      const ownText = this.#addressed(text, liveStreamId, stream.access, broadcast?.mediaUrl);
      const cacheControl = cacheControlFor(stream, 'no-cache');
      this.#sender.sendText(exchange, ownText, playlistType, cacheControl, stream.headers);
    };
    this.#admitToPlaylist(exchange, path, query, send, refuse);
  }

  /** Addresses carry the session of a private stream's viewer, and name the server where there are several. */
  #addressed(
    text: CompressedText,
    liveStreamId: string,
    access: PrivateAccess | undefined,
    otherUrl: string | undefined,
  ): CompressedText {
    const mediaUrl = otherUrl ?? this.#live.mediaUrl;
    if (access === undefined && mediaUrl === undefined) return text;
    const address = () =>
      new RenderedText(addressPlaylist(text.plain.toString(), liveStreamId, access, mediaUrl));
    if (access !== undefined) return address();
    let shared = this.#sharedPlaylists.get(text);
    if (shared === undefined) {
      shared = address();
      this.#sharedPlaylists.set(text, shared);
    }
    return shared;
  }

  sendSession(exchange: Exchange, path: StreamPath, query: string): void {
    const admission = this.#gate.admit(admissionRequest(exchange, path, query));
    this.#respond(exchange, admission, ({ access, headers }) =>
      this.#sender.sendJson(exchange, JSON.stringify({ session_token: access?.avh ?? '' }), headers),
    );
  }

  /** Tells an edge that it may serve the stream's media to the holder of the session in `avh`. */
  sendAccess(exchange: Exchange, path: StreamPath & { readonly privateToken: string }, query: string): void {
    const access = { token: path.privateToken, avh: new URLSearchParams(query).get('avh') ?? undefined };
    const admission = this.#gate.admitToCache(exchange.request, path.liveStreamId, access);
    this.#pending.hold(exchange, admission, answer => {
      if (answer instanceof PlaybackRefusal) this.#sender.sendError(exchange, 403, answer.reason, noStore);
      else if (answer === undefined) this.#sender.sendNotFound(exchange, noStore);
      else this.#sender.sendEmpty(exchange, 204, ['Cache-Control', accessCaching]);
    });
  }

  sendState(exchange: Exchange, liveStreamId: string, query: string): void {
    const admission = this.#gate.admitToPage(exchange.request, liveStreamId, query);
    this.#respond(exchange, admission, ({ headers }) =>
      this.#pending.hold(exchange, this.#options.viewersShown(liveStreamId), viewers =>
        this.#sender.sendJson(exchange, describeState(this.#live, liveStreamId, viewers), headers),
      ),
    );
  }

  openEvents(exchange: Exchange, liveStreamId: string, query: string): void {
    const { request, reply } = exchange;
    const admit = (step: 'check' | 'claim') => this.#gate.admitToPage(request, liveStreamId, query, step);
    this.#respond(exchange, admit('check'), () => {
      const start = this.#options.events.reserve(liveStreamId, reply);
      if (start === undefined) {
        const reason = 'Too many pages are open. Poll the state instead.';
        this.#sender.sendError(exchange, 503, reason, noStore, ['Retry-After', '10']);
        return;
      }
      this.#respond(exchange, admit('claim'), ({ access }) => {
        if (this.#sender.startEvents(exchange))
          start(() => this.#gate.stillAdmits(liveStreamId, access, request));
      });
    });
  }

  sendPlayer(exchange: Exchange, liveStreamId: string, query: string): void {
    const admission = this.#gate.admitToPage(exchange.request, liveStreamId, query);
    this.#respond(exchange, admission, stream =>
      this.#pending.hold(exchange, this.#pageExtras(liveStreamId), extras =>
        this.#sender.sendJson(exchange, this.#playerState(liveStreamId, stream, extras), stream.headers),
      ),
    );
  }

  #playerState(liveStreamId: string, stream: AdmittedStream, extras: PageExtras): string {
    return JSON.stringify(
      describeLivePlayer({
        liveStreamId,
        ...stream,
        ...extras,
        state: describeState(this.#live, liveStreamId),
        startsAtMs: this.#announcedStart(liveStreamId, stream),
        nowMs: this.#options.clock.nowMs(),
      }),
    );
  }

  /** Planned start of a stream that is offline. */
  #announcedStart(liveStreamId: string, stream: AdmittedStream): number | undefined {
    const { live } = this.#live.state(liveStreamId);
    return live ? undefined : announcedStart(stream, this.#options.clock.nowMs());
  }

  sendPage(exchange: Exchange, liveStreamId: string, query: string): void {
    const files = this.#options.files();
    const hasToken = new URLSearchParams(query).has('token');
    const refuse = () =>
      sendMissingPage(this.#sender, exchange, hasToken ? files.tokenRefused : files.notFound);
    if (liveStreamId === '') {
      refuse();
      return;
    }
    const admission = this.#gate.admitToPage(exchange.request, liveStreamId, query);
    this.#respond(
      exchange,
      admission,
      stream => {
        const parameters = new URLSearchParams(query);
        const page = isWatchPage(exchange.request, parameters)
          ? this.#watchPage(liveStreamId, stream, parameters)
          : this.#playerPage(liveStreamId, stream);
        const hasOtherServers = this.#live.mediaUrl !== undefined;
        this.#pending.hold(exchange, page, html =>
          sendRenderedPage(this.#sender, exchange, html, { ...stream, hasOtherServers }),
        );
      },
      refuse,
      reason => sendRefusedPage(this.#sender, exchange, files.refused, reason),
    );
  }

  async #pageExtras(liveStreamId: string): Promise<PageExtras> {
    const [hasThumbnail, theme, viewers] = await Promise.all([
      this.#hasThumbnail(liveStreamId),
      this.#streams.theme?.(liveStreamId),
      this.#options.viewersShown(liveStreamId),
    ]);
    // Whoever opens the page is one of them.
    return { hasThumbnail, theme, viewers: viewers === undefined ? undefined : Math.max(1, viewers) };
  }

  async #playerPage(liveStreamId: string, stream: AdmittedStream): Promise<string> {
    const { name, access, ultraLowLatency, viewerClips } = stream;
    const extras = await this.#pageExtras(liveStreamId);
    const broadcast = this.#live.current(liveStreamId);
    const text = broadcast?.multivariant();
    const publicUrl = this.#options.publicUrl();
    const isForSearch = await this.#options.watchedChannels.isForSearch(watchedOf(stream));
    return renderPlayerPage(this.#options.files().page, {
      liveStreamId,
      name,
      access,
      ultraLowLatency,
      viewerClips,
      ...extras,
      meta: pageMeta(this.#shareablePage(liveStreamId, name), publicUrl, { access, isForSearch }),
      playlist: this.#live.state(liveStreamId).live
        ? text && this.#addressed(text, liveStreamId, access, broadcast?.mediaUrl).plain.toString()
        : undefined,
      state: describeState(this.#live, liveStreamId),
      basePath: basePathOf(publicUrl),
      startsAtMs: this.#announcedStart(liveStreamId, stream),
      nowMs: this.#options.clock.nowMs(),
    });
  }

  async #watchPage(liveStreamId: string, stream: AdmittedStream, query: URLSearchParams): Promise<string> {
    const { name, access } = stream;
    const isLive = this.#live.state(liveStreamId).live;
    const [extras, recording, channel, isForSearch] = await Promise.all([
      this.#pageExtras(liveStreamId),
      this.#recordingOf(liveStreamId, stream),
      this.#options.watchedChannels.find(watchedOf(stream)),
      this.#options.watchedChannels.isForSearch(watchedOf(stream)),
    ]);
    const publicUrl = this.#options.publicUrl();
    const shared = this.#shareablePage(liveStreamId, name);
    return renderWatchPage(this.#options.files().watchPage, {
      kind: 'live',
      id: liveStreamId,
      title: streamTitle(name),
      meta: pageMeta(shared, publicUrl, { access, isForSearch }, { isLive }),
      description: '',
      publishedAtMs: undefined,
      isLive,
      size: shared.size,
      hasTexts: false,
      recording,
      startsAtMs: this.#announcedStart(liveStreamId, stream),
      channel,
      viewers: extras.viewers,
      access,
      mp4: undefined,
      poster: access === undefined ? shared.imagePath : undefined,
      query,
      state: this.#playerState(liveStreamId, stream, extras),
      basePath: basePathOf(publicUrl),
    });
  }

  /** A hook decides about each video: it may refuse the recording to this viewer. */
  async #recordingOf(
    liveStreamId: string,
    { isDecidedByHook }: AdmittedStream,
  ): Promise<WatchedRecording | undefined> {
    if (isDecidedByHook || this.#live.state(liveStreamId).live) return undefined;
    return this.#options.watch.recordingOf(liveStreamId);
  }

  /** The recording of the broadcast that has ended, for pages that showed it. */
  sendRecording(exchange: Exchange, liveStreamId: string, query: string): void {
    const admission = this.#gate.admitToPage(exchange.request, liveStreamId, query);
    this.#respond(exchange, admission, stream => {
      this.#pending.hold(exchange, this.#recordingOf(liveStreamId, stream), recording => {
        if (recording === undefined) {
          this.#sender.sendEmpty(exchange, 204, ['Cache-Control', noStore, ...stream.headers]);
        } else {
          const { videoId, title } = recording;
          this.#sender.sendJson(exchange, JSON.stringify({ videoId, title }), stream.headers);
        }
      });
    });
  }

  /** Refuses private streams. */
  sendEmbed(exchange: Exchange, liveStreamId: string, query: URLSearchParams): void {
    this.#respond(exchange, this.#admitWithoutToken(exchange, liveStreamId), ({ name }) => {
      const page = this.#shareablePage(liveStreamId, name);
      this.#sender.sendJson(exchange, JSON.stringify(describeEmbed(page, this.#options.publicUrl(), query)));
    });
  }

  /** Refuses private streams, as those that are live. */
  sendCalendarEvent(exchange: Exchange, liveStreamId: string): void {
    this.#respond(exchange, this.#admitWithoutToken(exchange, liveStreamId), stream => {
      const nowMs = this.#options.clock.nowMs();
      const startsAtMs = this.#announcedStart(liveStreamId, stream);
      if (startsAtMs === undefined) {
        this.#sender.sendNotFound(exchange, noStore);
        return;
      }
      const url = `${this.#options.publicUrl()}/live/${liveStreamId}`;
      const text = calendarEvent({ liveStreamId, title: streamTitle(stream.name), url, startsAtMs, nowMs });
      const type = 'text/calendar; charset=utf-8';
      this.#sender.sendDocument(exchange, 200, Buffer.from(text), type, ['Cache-Control', noStore]);
    });
  }

  /** Admits to public streams. */
  #admitWithoutToken({ request }: Exchange, liveStreamId: string) {
    return this.#gate.admit({
      request,
      liveStreamId,
      query: '',
      mayClaimToken: false,
      beginsPlayback: false,
    });
  }

  sendThumbnail(exchange: Exchange, path: StreamPath, query: string): void {
    const admission = this.#gate.admit(admissionRequest(exchange, path, query));
    this.#respond(exchange, admission, stream =>
      this.#pending.hold(exchange, this.#findImage(path.liveStreamId), found => {
        if ('address' in found) {
          this.#sender.sendRedirect(exchange, `${found.address}${exchange.request.url}`);
          return undefined;
        }
        const cacheControl = cacheControlFor(stream, `max-age=${found.maxAgeSeconds}`);
        return this.#sendImage(exchange, found.image, stream, cacheControl);
      }),
    );
  }

  #sendImage(
    exchange: Exchange,
    { body, contentType, etag }: Thumbnail,
    stream: AdmittedStream,
    cacheControl: string,
  ): Promise<void> | void {
    const headers = [...stream.headers, 'X-Content-Type-Options', 'nosniff'];
    const response = { parts: [body], bytes: body.length, contentType, etag };
    return this.#sender.sendBody(exchange, response, { cacheControl, headers });
  }

  /** Prefers the uploaded image, then a frame of the newest broadcast, then the placeholder. */
  async #findImage(
    liveStreamId: string,
  ): Promise<{ image: Thumbnail; maxAgeSeconds: number } | { address: string }> {
    const path = await this.#streams.thumbnailPath(liveStreamId);
    const uploaded = path === undefined ? undefined : await this.#thumbnails.read(path);
    if (uploaded !== undefined) return { image: uploaded, maxAgeSeconds: maxAgeOfUploadedImageSeconds };
    const { broadcastId, mediaUrl } = this.#live.current(liveStreamId) ?? {};
    if (mediaUrl !== undefined) return { address: mediaUrl };
    const frame = broadcastId === undefined ? undefined : await this.#options.frames.frame(broadcastId);
    return { image: frame ?? placeholderThumbnail(), maxAgeSeconds: maxAgeOfFrameSeconds };
  }

  async #hasThumbnail(liveStreamId: string): Promise<boolean> {
    if ((await this.#streams.thumbnailPath(liveStreamId)) !== undefined) return true;
    const { broadcastId, mediaUrl } = this.#live.current(liveStreamId) ?? {};
    if (mediaUrl !== undefined) return true;
    return broadcastId !== undefined && this.#options.frames.hasFrame(broadcastId);
  }

  #shareablePage(liveStreamId: string, name: string): ShareablePage {
    return shareableStream(liveStreamId, name, this.#live.current(liveStreamId)?.videoSize);
  }

  #admitToPlaylist(
    exchange: Exchange,
    path: StreamPath,
    query: string,
    send: (stream: AdmittedStream) => void,
    refuse?: () => void,
  ): void {
    const requested = { ...admissionRequest(exchange, path, query), beginsPlayback: true };
    this.#respond(exchange, this.#gate.admitToMedia(requested), send, refuse);
  }

  #respond(
    exchange: Exchange,
    admission: Promise<LiveAnswer> | LiveAnswer,
    send: (stream: AdmittedStream) => void,
    refuse = () => this.#sender.sendNotFound(exchange, noStore),
    explain = (reason: string) => this.#sender.sendError(exchange, 403, reason, noStore),
  ): void {
    this.#pending.hold(exchange, admission, answer => {
      if (answer instanceof PlaybackRefusal) {
        explain(answer.reason);
        return;
      }
      exchange.trafficOwner = answer?.trafficOwner;
      if (answer === undefined) refuse();
      else send(answer);
    });
  }
}
