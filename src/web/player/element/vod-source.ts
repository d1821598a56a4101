import { AudioControl } from '../media/audio-control.ts';
import { Captions, preferredTrack } from '../media/captions.ts';
import { PlaybackIntent } from '../media/playback-intent.ts';
import type { PlayerTheme } from '../theme/player-theme.ts';
import { PlayRange } from '../vod/play-range.ts';
import { autoQuality } from '../vod/vod-media.ts';
import { VodPlayer } from '../vod/vod-player.ts';
import { type VodPhase, VodSession } from '../vod/vod-session.ts';
import { parseVodState, type VodState } from '../vod/vod-state.ts';
import { embedUrl } from './player-address.ts';
import type { PlayerSource, SourceContext, SourceCues } from './player-source.ts';

export class VodSource implements PlayerSource {
  readonly latency = undefined;
  readonly clips = undefined;
  readonly isSourceStalled = false;
  readonly rewindRange = undefined;
  readonly isAtLiveEdge = false;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly captions: Captions;
  readonly #session: VodSession;
  readonly #player: VodPlayer;
  readonly #context: SourceContext;
  /** The page tells it: the state that is polled has none. */
  readonly #next: VodState['next'];
  #isReachable = true;

  /** @throws Error when the state is not that of a video */
  constructor(context: SourceContext) {
    const { address, video, options, settings, signal, onChange } = context;
    this.#context = context;
    const state = parseVodState(JSON.stringify(context.state), address.server);
    this.#next = state.next;
    this.#session = new VodSession(
      state,
      video,
      { startSeconds: options.startSeconds, base: address.server, settings, signal },
      {
        onPhase: onChange,
        onState: changed => this.#takeState(changed),
        onReachable: isReachable => {
          this.#isReachable = isReachable;
          onChange();
        },
        onMediaChange: onChange,
      },
    );
    this.audio = new AudioControl(video, { muted: options.muted, signal }, onChange);
    const wantsToPlay = options.autoplay || state.theme?.forceAutoplay === true;
    this.playing = new PlaybackIntent(video, this.audio, { wantsToPlay, signal }, onChange);
    this.#player = new VodPlayer({
      video,
      session: this.#session,
      playing: this.playing,
      audio: this.audio,
      settings,
      range: new PlayRange(options.startSeconds, options.endSeconds),
      isLooping: options.loop || state.theme?.forceLoop === true,
      signal,
      onChange,
    });
    this.captions = new Captions(video, settings, onChange, signal);
    this.captions.setTracks(state.captions, options.showSubtitles);
    this.#player.setRate(settings.current.rate, false);
  }

  get phase(): VodPhase {
    return this.#session.phase;
  }

  get refusal(): PlayerSource['refusal'] {
    return this.#session.refusal;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  get details(): PlayerSource['details'] {
    const { server, id, token } = this.#context.address;
    const { title, poster, hasThumbnail, mp4, duration, width, height, revision } = this.#session.state;
    return {
      kind: 'video',
      id,
      title,
      poster: hasThumbnail && poster !== '' ? withParameter(poster, 'v', String(revision)) : undefined,
      pageUrl: `${server}/vod/${id}`,
      embedUrl: embedUrl(`${server}/vod/${id}`, token),
      downloadUrl: mp4 === undefined ? undefined : withParameter(mp4, 'dl', '1'),
      durationSeconds: duration,
      size: width === undefined || height === undefined ? undefined : { width, height },
      viewers: undefined,
      next: this.#next,
    };
  }

  get theme(): PlayerTheme | undefined {
    return this.#session.state.theme;
  }

  get cues(): SourceCues {
    const { chapters, storyboard } = this.#session.state;
    return { chapters: preferredTrack(chapters, navigator.languages)?.src, storyboard };
  }

  get audioTracks(): PlayerSource['audioTracks'] {
    return this.#session.media.audioTracks;
  }

  get qualities(): PlayerSource['qualities'] {
    return this.#session.media.qualities;
  }

  get chosenQuality(): string | undefined {
    const { media } = this.#session;
    const chosen = media.chosenQuality;
    return chosen === autoQuality ? undefined : media.qualities.find(({ id }) => id === chosen)?.label;
  }

  get activeQuality(): string | undefined {
    return this.#session.media.currentQuality?.label;
  }

  get hasBegun(): boolean {
    return this.#player.hasBegun;
  }

  get isAtEnd(): boolean {
    return this.#player.isAtEnd;
  }

  get isGrowing(): boolean {
    return this.availableSeconds > 0 && this.#session.media.isGrowing;
  }

  get availableSeconds(): number {
    return this.#session.media.availableSeconds;
  }

  get totalSeconds(): number {
    return this.#session.totalSeconds;
  }

  get rate(): number {
    return this.#player.rate;
  }

  get isLooping(): boolean {
    return this.#player.isLooping;
  }

  set isLooping(isLooping: boolean) {
    this.#player.isLooping = isLooping;
  }

  start(): void {
    this.#session.start();
  }

  end(): void {
    this.#session.end();
  }

  play(): void {
    this.#player.play();
  }

  pause(): void {
    this.#player.pause();
  }

  seekTo(seconds: number): void {
    this.#player.seekTo(seconds);
  }

  seekBy(seconds: number): void {
    this.#player.seekBy(seconds);
  }

  seekToFraction(part: number): void {
    this.#player.seekTo(part * this.totalSeconds);
  }

  goToLive(): void {}

  setRate(rate: number, isRemembered = true): void {
    this.#player.setRate(rate, isRemembered);
  }

  stepRate(steps: 1 | -1): number {
    this.#player.stepRate(steps);
    return this.rate;
  }

  stepFrame(steps: 1 | -1): void {
    this.#player.stepFrame(steps);
  }

  chooseQuality(label: string | undefined): void {
    const { media } = this.#session;
    media.chooseQuality(media.qualities.find(quality => quality.label === label)?.id ?? autoQuality);
  }

  dateAt(): undefined {
    return undefined;
  }

  #takeState({ captions }: VodState): void {
    this.captions.setTracks(captions, this.#context.options.showSubtitles);
    this.#context.onChange();
  }
}

function withParameter(address: string, name: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
}
