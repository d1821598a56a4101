import { attachmentHeader } from '../../http/responses/content-disposition.ts';
import { basePathOf } from '../../shared/network/base-path.ts';
import { type CompressedText, RenderedText } from '../../shared/text/rendered-text.ts';
import type { ResponseBody } from '../../shared/viewer-responses.ts';
import type { WatchedChannel, WatchedChannels } from '../channel/watched-channels.ts';
import { sendMissingPage, sendRefusedPage, sendRenderedPage } from '../pages/page-sender.ts';
import { describeEmbed, pageMeta, shareableVideo } from '../pages/page-sharing.ts';
import { type PlayerFiles, placeholderThumbnail } from '../pages/player-files.ts';
import { describeVideo, renderVodPage, titleOf, type VodPageState } from '../pages/vod-page.ts';
import { isWatchPage, renderWatchPage } from '../pages/watch-page.ts';
import type { WatchSource } from '../pages/watch-source.ts';
import { type PlaybackGate, PlaybackRefusal } from '../playback-gate.ts';
import { sessionQuery } from '../private-sessions.ts';
import { accessCaching, cacheControlFor, isForEverybody, maxAge } from '../responses/cache-control.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { PendingResponses } from '../responses/pending-responses.ts';
import { playlistType, type ResponseSender } from '../responses/response-sender.ts';
import { type AdmittedVideo, VodGate } from './vod-gate.ts';
import type { VodEntry, VodSource } from './vod-source.ts';

interface VodDeliveryOptions {
  readonly source: VodSource;
  readonly watch: WatchSource;
  readonly watchedChannels: WatchedChannels;
  readonly playback: PlaybackGate;
  readonly publicUrl: () => string;
  readonly sender: ResponseSender;
  readonly pending: PendingResponses;
  readonly files: () => PlayerFiles;
}

/** Purpose of a request. */
export interface VideoUse {
  /** Before the video is playable, the request does not claim the token: another viewer may play it then. */
  readonly isMedia?: true;
  /** True for what a player begins with, or what shows much of the video. */
  readonly beginsPlayback?: true;
}

interface VideoRequest extends VideoUse {
  readonly videoId: string;
  readonly privateToken?: string;
  readonly query: URLSearchParams;
}

const textTrackType = 'text/vtt; charset=utf-8';
const noCache = 'no-cache';
const noStore = 'no-store';
/** URIs may be outdated for as long after the video was encoded again. */
const completeListSeconds = 60;
const yearSeconds = 31_536_000;
const daySeconds = 86_400;
const hourSeconds = 3600;
/** Lifetime of addresses in storage. Players ask there again when the viewer seeks. */
const publicDownloadSeconds = 6 * hourSeconds;
const privateDownloadSeconds = 300;
/** Longer texts are sent unchanged: neither gzipped nor with sessions in their URIs. */
const maxTextBytes = 1024 * 1024;
const failedText = 'Processing this video failed, so it cannot be played.';

export class VodDelivery {
  readonly #source: VodSource;
  readonly #watch: WatchSource;
  readonly #watchedChannels: WatchedChannels;
  readonly #gate: VodGate;
  readonly #publicUrl: () => string;
  readonly #sender: ResponseSender;
  readonly #pending: PendingResponses;
  readonly #files: () => PlayerFiles;

  constructor(options: VodDeliveryOptions) {
    this.#source = options.source;
    this.#watch = options.watch;
    this.#watchedChannels = options.watchedChannels;
    this.#gate = new VodGate(options);
    this.#publicUrl = options.publicUrl;
    this.#sender = options.sender;
    this.#pending = options.pending;
    this.#files = options.files;
  }

  /** Admits the request to the video. */
  respond(exchange: Exchange, requested: VideoRequest, answer: (video: AdmittedVideo) => void): void {
    const { videoId, privateToken: token, query, isMedia = false, beginsPlayback = false } = requested;
    const admission = this.#gate.admit(
      { request: exchange.request, videoId, token, query, beginsPlayback },
      entry => entry.isPlayable || !isMedia,
    );
    this.#respond(exchange, admission, answer);
  }

  #respond(
    exchange: Exchange,
    admission: Promise<AdmittedVideo | PlaybackRefusal | undefined>,
    answer: (video: AdmittedVideo) => void,
    refuse = () => this.#sender.sendNotFound(exchange, noCache),
    explain = (reason: string) => this.#sender.sendError(exchange, 403, reason, noStore),
  ): void {
    this.#pending.hold(exchange, admission, video => {
      if (video instanceof PlaybackRefusal) {
        explain(video.reason);
        return;
      }
      exchange.trafficOwner = video && { projectId: video.entry.projectId, deliveryKind: 'vod' };
      if (video === undefined) refuse();
      else answer(video);
    });
  }

  sendMultivariant(exchange: Exchange, video: AdmittedVideo): void {
    const { entry, access, headers } = video;
    if (!entry.isPlayable) {
      this.#notPlayable(exchange, entry);
      return;
    }
    const pending = this.#multivariant(entry, access?.avh);
    this.#pending.hold(exchange, pending, text => {
      if (text === undefined) this.#notPlayable(exchange, entry);
      // Renditions may be added at any time.
      else this.#sender.sendText(exchange, text, playlistType, cacheControlOf(video, noCache), headers);
    });
  }

  async #multivariant(entry: VodEntry, avh: string | undefined): Promise<CompressedText | undefined> {
    const captions = entry.durationSeconds === undefined ? [] : await entry.captions();
    return this.#source.multivariant(entry.videoId, captions, avh);
  }

  sendPlaylist(exchange: Exchange, rendition: string, video: AdmittedVideo): void {
    const { entry, access, headers } = video;
    const pending = this.#source.mediaPlaylist(entry.videoId, rendition, access?.avh);
    this.#pending.hold(exchange, pending, playlist => {
      if (playlist === undefined) {
        this.#sender.sendNotFound(exchange, noCache);
        return;
      }
      const caching = playlist.isComplete ? `max-age=${completeListSeconds}` : noCache;
      this.#sender.sendText(exchange, playlist.text, playlistType, cacheControlOf(video, caching), headers);
    });
  }

  sendCaptionsPlaylist(exchange: Exchange, language: string, video: AdmittedVideo): void {
    const { entry, access, headers } = video;
    const { durationSeconds } = entry;
    this.#pending.hold(exchange, entry.captions(), captions => {
      const track = captions.find(one => one.language.toLowerCase() === language.toLowerCase());
      const text =
        track &&
        durationSeconds &&
        this.#source.captionsPlaylist(track.language, durationSeconds, access?.avh);
      if (!text) this.#sender.sendNotFound(exchange, noCache);
      else this.#sender.sendText(exchange, text, playlistType, cacheControlOf(video, noCache), headers);
    });
  }

  sendMedia(exchange: Exchange, rendition: string, name: string, video: AdmittedVideo): void {
    const pending = this.#source.media(video.entry.videoId, rendition, name);
    this.#pending.hold(exchange, pending, media => {
      if (media === undefined) {
        this.#sender.sendNotFound(exchange, noCache);
        return undefined;
      }
      const maxAgeSeconds = Math.min(media.lifetimeSeconds, isForEverybody(video) ? yearSeconds : daySeconds);
      const caching = maxAgeSeconds > 0 ? `${maxAge(video, maxAgeSeconds)}, immutable` : noCache;
      return this.#sendBody(exchange, media, video, caching);
    });
  }

  sendMp4(
    exchange: Exchange,
    quality: string | undefined,
    video: AdmittedVideo,
    query: URLSearchParams,
  ): void {
    const { entry } = video;
    if (!entry.mp4Support) {
      this.#sender.sendNotFound(exchange, noCache);
      return;
    }
    const disposition = query.get('dl') === '1' ? attachmentHeader(entry.title, 'mp4') : undefined;
    this.#pending.hold(exchange, this.#mp4Of(exchange, quality, video, disposition), file => {
      if (file === undefined) {
        if (quality === undefined) this.#notPlayable(exchange, entry);
        else this.#sender.sendNotFound(exchange, noCache);
        return undefined;
      }
      if (typeof file === 'string') {
        const headers = ['Location', file, 'Cache-Control', 'no-store', ...video.headers];
        this.#sender.sendEmpty(exchange, 302, headers);
        return undefined;
      }
      const more = disposition === undefined ? [] : ['Content-Disposition', disposition];
      return this.#sendBody(exchange, file, video, maxAge(video, daySeconds), more);
    });
  }

  /** The file, or another address of it. Such addresses are only for GET. */
  async #mp4Of(
    { isHead }: Exchange,
    quality: string | undefined,
    video: AdmittedVideo,
    disposition: string | undefined,
  ): Promise<ResponseBody | string | undefined> {
    const { videoId } = video.entry;
    const url = isHead
      ? undefined
      : await this.#source.downloadUrl(videoId, quality, {
          expiresSeconds: isForEverybody(video) ? publicDownloadSeconds : privateDownloadSeconds,
          contentDisposition: disposition ?? 'inline',
        });
    return url ?? this.#source.file(videoId, 'mp4', quality);
  }

  sendThumbnail(exchange: Exchange, video: AdmittedVideo, hasPlaceholder: boolean): void {
    this.#pending.hold(exchange, this.#source.file(video.entry.videoId, 'thumbnail'), file => {
      if (file === undefined && !hasPlaceholder) {
        this.#sender.sendEmpty(exchange, 204, ['Cache-Control', 'no-store', ...video.headers]);
        return undefined;
      }
      const { body, ...placeholder } = placeholderThumbnail();
      const image = file ?? { ...placeholder, parts: [body], bytes: body.length };
      // A thumbnail may replace the placeholder at any moment.
      return this.#sendBody(exchange, image, video, file === undefined ? noCache : 'max-age=60');
    });
  }

  sendStoryboard(exchange: Exchange, form: 'image' | 'text', video: AdmittedVideo): void {
    const { videoId } = video.entry;
    const caching = maxAge(video, hourSeconds);
    const pending = this.#source.file(videoId, form === 'image' ? 'storyboard.jpg' : 'storyboard.vtt');
    this.#pending.hold(exchange, pending, async file => {
      if (file === undefined) {
        this.#sender.sendNotFound(exchange, noCache);
      } else if (form === 'image' || file.bytes > maxTextBytes) {
        await this.#sendBody(exchange, file, video, caching);
      } else {
        const text = (await this.#sender.readBody(file))?.toString();
        if (text === undefined) this.#sender.sendNotFound(exchange, noCache);
        else this.#sendStoryboardText(exchange, text, video, caching);
      }
    });
  }

  /** Revalidated: the owner may replace the file at any time. */
  sendTextTrack(
    exchange: Exchange,
    track: 'captions' | 'chapters',
    language: string,
    video: AdmittedVideo,
  ): void {
    this.#pending.hold(exchange, this.#source.textTrack(video.entry.videoId, track, language), file => {
      if (file === undefined) return this.#sender.sendNotFound(exchange, noCache);
      return this.#sendBody(exchange, file, video, noCache);
    });
  }

  #sendStoryboardText(exchange: Exchange, text: string, video: AdmittedVideo, caching: string): void {
    const { access, headers } = video;
    const own =
      access?.avh === undefined
        ? text
        : text.replace(/^([^\s?#]+)#xywh=/gm, `$1?${sessionQuery(access)}#xywh=`);
    this.#sender.sendText(
      exchange,
      new RenderedText(own),
      textTrackType,
      cacheControlOf(video, caching),
      headers,
    );
  }

  #sendBody(
    exchange: Exchange,
    body: ResponseBody,
    video: AdmittedVideo,
    caching: string,
    more: readonly string[] = [],
  ): Promise<void> | void {
    return this.#sender.sendBody(exchange, body, {
      cacheControl: cacheControlOf(video, caching),
      headers: [...video.headers, ...more, 'X-Content-Type-Options', 'nosniff'],
    });
  }

  sendState(exchange: Exchange, video: AdmittedVideo): void {
    this.#pending.hold(exchange, this.#describe(video), state =>
      this.#sender.sendJson(exchange, JSON.stringify(state), video.headers),
    );
  }

  sendSession(exchange: Exchange, { access, headers }: AdmittedVideo): void {
    this.#sender.sendJson(exchange, JSON.stringify({ session_token: access?.avh ?? '' }), headers);
  }

  sendPage(exchange: Exchange, videoId: string, query: URLSearchParams): void {
    const { tokenRefused, vodNotFound } = this.#files();
    const refuse = () =>
      sendMissingPage(this.#sender, exchange, query.has('token') ? tokenRefused : vodNotFound);
    if (videoId === '') {
      refuse();
      return;
    }
    const render = isWatchPage(exchange.request, query)
      ? (video: AdmittedVideo) => this.#watchPage(video, query)
      : (video: AdmittedVideo) => this.#playerPage(video);
    const answer = (video: AdmittedVideo) =>
      this.#pending.hold(exchange, render(video), page =>
        sendRenderedPage(this.#sender, exchange, page, { ...video, hasOtherServers: false }),
      );
    this.#respond(
      exchange,
      this.#gate.admitToPage(exchange.request, videoId, query),
      answer,
      refuse,
      reason => sendRefusedPage(this.#sender, exchange, this.#files().refused, reason),
    );
  }

  async #playerPage(video: AdmittedVideo): Promise<string> {
    const [state, isForSearch] = await Promise.all([
      this.#describe(video),
      this.#watchedChannels.isForSearch({ ...video.entry, ...video }),
    ]);
    const reach = { access: video.access, isForSearch };
    const meta = pageMeta(shareableVideo(state), this.#publicUrl(), reach);
    return renderVodPage(this.#files().vodPage, state, { meta });
  }

  async #watchPage(video: AdmittedVideo, query: URLSearchParams): Promise<string> {
    const { videoId } = video.entry;
    const [state, details] = await Promise.all([this.#describe(video), this.#watch.details(videoId)]);
    const { description = '', publishedAtMs } = details ?? {};
    const position = publishedAtMs === undefined ? undefined : { videoId, publishedAtMs };
    const watched = { ...video.entry, ...video, position };
    const [channel, isForSearch] = await Promise.all([
      this.#watchedChannels.find(watched),
      this.#watchedChannels.isForSearch(watched),
    ]);
    const base = this.#publicUrl();
    const shared = { ...shareableVideo(state), description };
    const { access } = video;
    const { mp4, poster, width, height, captions, chapters } = state;
    return renderWatchPage(this.#files().watchPage, {
      kind: 'video',
      id: videoId,
      title: titleOf(state),
      meta: pageMeta(shared, base, { access, isForSearch }, { publishedAtMs }),
      description,
      publishedAtMs,
      isLive: false,
      size: width && height ? { width, height } : undefined,
      hasTexts: captions.length + chapters.length > 0,
      recording: undefined,
      startsAtMs: undefined,
      channel,
      viewers: undefined,
      access,
      mp4: mp4 ?? undefined,
      poster,
      query,
      state: JSON.stringify({ ...state, next: nextOf(channel) }),
      basePath: basePathOf(base),
    });
  }

  /** Tells an edge that it may serve the video's media to the holder of the session `avh`. */
  sendAccess(exchange: Exchange, videoId: string, token: string, avh: string | undefined): void {
    const admission = this.#gate.admitToCache(exchange.request, videoId, { token, avh });
    this.#pending.hold(exchange, admission, answer => {
      if (answer instanceof PlaybackRefusal) this.#sender.sendError(exchange, 403, answer.reason, noStore);
      else if (answer === undefined) this.#sender.sendNotFound(exchange, noCache);
      else this.#sender.sendEmpty(exchange, 204, ['Cache-Control', accessCaching]);
    });
  }

  sendEmbed(exchange: Exchange, videoId: string, query: URLSearchParams): void {
    const { request } = exchange;
    const requested = { request, videoId, token: undefined, query, beginsPlayback: false };
    this.#respond(
      exchange,
      this.#gate.admit(requested, () => false),
      ({ entry }) => {
        const { width, height } = entry;
        const size = width && height ? { width, height } : undefined;
        const shared = { title: titleOf(entry), path: `/vod/${videoId}`, size };
        this.#sender.sendJson(exchange, JSON.stringify(describeEmbed(shared, this.#publicUrl(), query)));
      },
    );
  }

  async #describe({ entry, access }: AdmittedVideo): Promise<VodPageState> {
    const { videoId, mp4Support } = entry;
    const [mp4, thumbnail, captions, chapters, theme] = await Promise.all([
      mp4Support ? this.#source.file(videoId, 'mp4') : undefined,
      this.#source.file(videoId, 'thumbnail'),
      entry.captions(),
      entry.chapters(),
      entry.theme(),
    ]);
    const extras = { hasMp4: mp4 !== undefined, hasThumbnail: thumbnail !== undefined };
    return describeVideo(entry, { ...extras, captions, chapters, theme }, access);
  }

  /** Players and uploaders poll while they get 202; 404 ends that. */
  #notPlayable(exchange: Exchange, entry: VodEntry): void {
    if (entry.hasFailed) this.#sender.sendError(exchange, 404, failedText, noCache);
    else this.#sender.sendEmpty(exchange, 202, ['Cache-Control', 'no-store', 'Retry-After', '1']);
  }
}

/** The video that the player of a watch page offers at the end. */
function nextOf(watched: WatchedChannel | undefined): object | undefined {
  const [video] = watched?.next ?? [];
  if (video === undefined) return undefined;
  const path = `/vod/${video.videoId}`;
  return { title: titleOf(video), path, poster: `${path}/thumbnail.jpg` };
}

function cacheControlOf(video: AdmittedVideo, caching: string): string {
  return isForEverybody(video) && caching.endsWith('immutable')
    ? `public, ${caching}`
    : cacheControlFor(video, caching);
}
