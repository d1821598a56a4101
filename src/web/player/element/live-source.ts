import { LiveSession, type Phase } from '../live/live-session.ts';
import { LiveStoryboard } from '../live/live-storyboard.ts';
import { ServerClock } from '../live/server-clock.ts';
import { AudioControl } from '../media/audio-control.ts';
import { Captions } from '../media/captions.ts';
import { PlaybackIntent } from '../media/playback-intent.ts';
import { asRecord, asText, parseTheme } from '../theme/player-theme.ts';
import { embedUrl } from './player-address.ts';
import type { PlayerLatency } from './player-media.ts';
import type { PlayerSource, SourceContext, SourceCues } from './player-source.ts';
import { ViewerClips } from './viewer-clips.ts';

const firstViewersMs = 3000;
const viewersIntervalMs = 20_000;

export class LiveSource implements PlayerSource {
  readonly #details: PlayerSource['details'];
  readonly theme: PlayerSource['theme'];
  readonly latency: PlayerLatency;
  readonly clips: ViewerClips | undefined;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly captions: Captions;
  readonly cues: SourceCues = { chapters: undefined, storyboard: undefined };
  readonly storyboard: LiveStoryboard;
  readonly isAtEnd = false;
  readonly isGrowing = false;
  readonly availableSeconds = Number.POSITIVE_INFINITY;
  readonly totalSeconds = Number.POSITIVE_INFINITY;
  /** A broadcast has no start to loop to. The value is only reported back. */
  isLooping = false;
  readonly #session: LiveSession;
  readonly #video: HTMLVideoElement;
  readonly #begin: { readonly live: boolean; readonly broadcastId: string | null };
  readonly #onChange: () => void;
  #isReachable = true;
  #isSourceStalled = false;
  #viewers: number | undefined;
  #hasBegun = false;

  constructor({ address, arrivedAtMs, video, options, settings, signal, ...context }: SourceContext) {
    const { id, server, options: addressOptions } = address;
    const state = asRecord(context.state) ?? {};
    const query = asText(state.query) ?? '';
    const hls = `${server}${asText(state.hls) ?? `/${id}.m3u8`}`;
    const onChange = context.onChange;
    this.#onChange = onChange;
    this.#video = video;
    this.#begin = { live: state.live === true, broadcastId: asText(state.broadcastId) ?? null };
    this.theme = parseTheme(state.theme, server);
    this.#session = new LiveSession(
      {
        // A private stream may become public while it is watched, and private again.
        hls: [...new Set([hls, `${server}/${id}.m3u8`])],
        page: `${server}/live/${id}`,
        query,
        whep: state.ultraLowLatency === true ? `${server}/whep/${id}${query}` : undefined,
      },
      video,
      { clock: new ServerClock(Number(state.serverTimeMs), arrivedAtMs), settings, signal },
      {
        onPhase: onChange,
        onReachable: isReachable => this.#setReachable(isReachable),
        onSourceStalled: isStalled => {
          this.#isSourceStalled = isStalled;
          onChange();
        },
        onMediaChange: onChange,
      },
    );
    this.storyboard = new LiveStoryboard(this.#session, context.onFrames);
    this.audio = new AudioControl(video, { muted: options.muted, signal }, onChange);
    const wantsToPlay = options.autoplay || this.theme?.forceAutoplay === true;
    this.playing = new PlaybackIntent(video, this.audio, { wantsToPlay, signal }, onChange);
    this.captions = new Captions(video, settings, onChange, signal);
    this.clips =
      state.viewerClips === true
        ? new ViewerClips(`${server}/clips/${id}${query}`, this.#session)
        : undefined;
    this.latency = this.#describeLatency();
    this.#viewers = asCount(state.viewers);
    if (state.showViewers === true) this.#followViewers(`${server}/live/${id}/state${query}`, signal);
    this.#details = {
      kind: 'live',
      id,
      title: asText(state.title) ?? '',
      poster: state.hasThumbnail === true ? `${server}${asText(state.poster) ?? ''}` : undefined,
      pageUrl: `${server}/live/${id}`,
      embedUrl: embedUrl(`${server}/live/${id}`, addressOptions.get('token')),
      downloadUrl: undefined,
      durationSeconds: undefined,
      size: undefined,
      viewers: undefined,
      startsAtMs: asCount(state.startsAtMs),
      next: undefined,
    };
  }

  get details(): PlayerSource['details'] {
    const isLive = this.#session.phase === 'live';
    return isLive ? { ...this.#details, viewers: this.#viewers } : this.#details;
  }

  get phase(): Phase {
    return this.#session.phase;
  }

  get refusal(): PlayerSource['refusal'] {
    return this.#session.refusal;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  get isSourceStalled(): boolean {
    return this.#isSourceStalled;
  }

  get audioTracks(): PlayerSource['audioTracks'] {
    return this.#session.media.audioTracks;
  }

  get qualities(): PlayerSource['qualities'] {
    return this.#session.webRtc.isActive ? [] : this.#session.media.qualities.options;
  }

  get chosenQuality(): string | undefined {
    return this.#session.media.qualities.chosen;
  }

  get activeQuality(): string | undefined {
    return this.#session.media.qualities.current;
  }

  get hasBegun(): boolean {
    this.#hasBegun ||= this.#video.played.length > 0;
    return this.#hasBegun;
  }

  get rewindRange(): PlayerSource['rewindRange'] {
    return this.#session.rewindRange();
  }

  get isAtLiveEdge(): boolean {
    return !this.#session.isBehindLive(this.playing.wantsToPlay);
  }

  get rate(): number {
    return this.#session.media.rate;
  }

  start(): void {
    this.#session.start(this.#video, this.#begin);
  }

  end(): void {
    this.#session.end();
  }

  play(): void {
    this.playing.start();
  }

  pause(): void {
    if (this.playing.wantsToPlay) this.playing.toggle();
  }

  seekTo(seconds: number): void {
    if (Number.isFinite(seconds)) this.#session.seekTo(seconds);
    this.#onChange();
  }

  seekBy(seconds: number): void {
    this.#session.seekBy(seconds);
    this.#onChange();
  }

  seekToFraction(part: number): void {
    if (part === 1) this.goToLive();
    else this.#session.seekToFraction(part);
    this.#onChange();
  }

  goToLive(): void {
    if (this.playing.wantsToPlay && this.#session.isAtNewestMedia()) return;
    this.#session.goToLive();
    this.playing.start();
    this.#onChange();
  }

  /** The rate is that of the broadcast, except for steps of the viewer. */
  setRate(): void {}

  stepRate(steps: 1 | -1): number {
    return this.#session.webRtc.isActive ? 1 : this.#session.media.stepRate(steps);
  }

  stepFrame(steps: 1 | -1): void {
    this.pause();
    this.#session.media.seekBy(steps / this.#session.media.frameRate);
  }

  chooseQuality(label: string | undefined): void {
    this.#session.media.qualities.choose(label);
    this.#onChange();
  }

  dateAt(seconds: number): Date | undefined {
    return this.#session.dateAt(seconds);
  }

  #setReachable(isReachable: boolean): void {
    if (isReachable === this.#isReachable) return;
    this.#isReachable = isReachable;
    this.#onChange();
  }

  /** Asks while the page is seen: the events of the state end with the first frame. */
  #followViewers(url: string, signal: AbortSignal): void {
    let timer = 0;
    const ask = async () => {
      if (this.#session.phase === 'live' && !document.hidden) {
        const state = await fetch(url, { cache: 'no-store', signal })
          .then(answer => (answer.ok ? answer.json() : undefined))
          .catch(() => undefined);
        this.#viewers = asCount(asRecord(state)?.viewers) ?? this.#viewers;
        this.#onChange();
      }
      next(viewersIntervalMs);
    };
    const next = (delayMs: number) => {
      // Viewers of one stream do not ask at the same moment.
      if (!signal.aborted) timer = setTimeout(() => void ask(), delayMs * (1 + Math.random() / 2));
    };
    signal.addEventListener('abort', () => clearTimeout(timer));
    next(firstViewersMs);
  }

  #describeLatency(): PlayerLatency {
    const session = this.#session;
    const onChange = this.#onChange;
    return {
      get hasUltraLow() {
        return session.hasUltraLowLatency;
      },
      get isUltraLow() {
        return session.webRtc.isActive;
      },
      get problem() {
        return session.webRtc.problemKind;
      },
      chooseUltraLow: isWanted => {
        session.chooseUltraLowLatency(isWanted);
        onChange();
      },
      seconds: () => session.latencySeconds(),
    };
  }
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
