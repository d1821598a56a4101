import type { PlayerTexts } from '../../i18n/player.ts';
import { formatClockTime, formatTime } from '../../shared/time-text.ts';
import type { PlayerMedia } from '../element/player-media.ts';
import { setText } from './elements.ts';
import { latencyText, spokenTime } from './formats.ts';
import { noticeOf, screenOf } from './screens.ts';
import { SpokenTexts } from './spoken-texts.ts';
import type { TimeRange } from './time-range.ts';

/** A live bar is shown from this length on, and hidden below half of it: HLS, which is a little behind, has a shorter one than WebRTC. */
const minRewindSeconds = 20;
/** A position this close to the end of a live bar means the live edge. */
const liveEdgeSeconds = 2;

/** The part of media-chrome's state that the controls read. */
export interface ChromeState {
  readonly mediaMuted?: boolean;
  readonly mediaPaused?: boolean;
  readonly mediaPreviewTime?: number | undefined;
  readonly mediaPreviewChapter?: string | undefined;
  readonly mediaIsFullscreen?: boolean;
  readonly mediaIsPip?: boolean;
}

export interface ViewState {
  readonly chrome: ChromeState;
  readonly chapter: string;
  readonly hasChapters: boolean;
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  readonly hasPlaylist: boolean;
  readonly canShare: boolean;
  /** The settings menu has an item. */
  readonly hasSettings: boolean;
  readonly canClip: boolean;
  /** Undefined where the page offers none. */
  readonly isTheatre: boolean | undefined;
  readonly isIdle: boolean;
  readonly isBuffering: boolean;
  readonly isWaitingForRest: boolean;
  readonly isAtEnd: boolean;
}

/** Shows the state of the media in the shadow tree of the controls. */
export class ControlsView {
  readonly #root: ShadowRoot;
  readonly #spokenTexts = new SpokenTexts();

  constructor(root: ShadowRoot) {
    this.#root = root;
  }

  get<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
    return this.#root.getElementById(id) as Kind;
  }

  render(media: PlayerMedia, texts: PlayerTexts, state: ViewState): void {
    const { t } = texts;
    const player = this.get('player');
    const isLive = media.details?.kind === 'live' || media.streamType === 'live';
    const screen = screenOf(media, texts);
    const { details } = media;
    player.dataset.phase = media.phase;
    const classes: Readonly<Record<string, boolean>> = {
      'is-live': isLive,
      'is-paused': !media.wantsToPlay,
      'is-fresh': !media.hasBegun,
      'is-at-end': state.isAtEnd,
      'is-idle': state.isIdle,
      'is-buffering': state.isBuffering || (media.phase === 'loading' && media.wantsToPlay),
      'is-audio-only': details?.isAudioOnly === true,
      'has-thumbnail': details?.poster !== undefined,
      'has-screen': screen !== undefined,
      'needs-unmute': media.isMutedByAutoplay,
    };
    for (const [name, isOn] of Object.entries(classes)) player.classList.toggle(name, isOn);
    this.#spokenTexts.set(player, 'aria-label', details?.title ?? t('player.controls'));
    setText(this.get('status-title'), screen?.title ?? '');
    setText(this.get('status-text'), screen?.text ?? '');
    this.get('screen').setAttribute('aria-label', t(isLive ? 'player.stateOfStream' : 'player.stateOfVideo'));
    setText(this.get('notice'), noticeOf(media, texts, state.isWaitingForRest));
    for (const id of ['title', 'card-name', 'artwork-title']) setText(this.get(id), details?.title ?? '');
    setText(this.get('unmute-text'), t('player.tapToUnmute'));
    this.get('controls').setAttribute('aria-label', t('player.controls'));
    const duration = details?.durationSeconds;
    setText(this.get('badge'), duration === undefined || isLive ? '' : formatTime(duration));
    this.#renderButtons(media, texts, state);
    this.#renderSeekBar(media, texts, state, isLive);
    if (isLive) this.#renderLive(media, texts);
    else this.#renderTime(media, state);
    this.#renderPreview(media, texts, state, isLive);
  }

  #renderButtons(media: PlayerMedia, { t }: PlayerTexts, state: ViewState): void {
    const { chrome } = state;
    const isSilent = media.muted || media.volume === 0;
    const playLabel = state.isAtEnd
      ? t('player.replay')
      : t(media.wantsToPlay ? 'player.pause' : 'player.play');
    this.#label('play', playLabel, 'k');
    this.#spokenTexts.set(
      this.get('big-play'),
      'aria-label',
      t(state.isAtEnd ? 'player.replay' : 'player.play'),
    );
    this.#label('mute', t(isSilent ? 'player.unmute' : 'player.mute'), 'm');
    this.#label(
      'fullscreen',
      t(chrome.mediaIsFullscreen ? 'player.exitFullscreen' : 'player.fullscreen'),
      'f',
    );
    this.#label('pip', t(chrome.mediaIsPip ? 'player.exitPictureInPicture' : 'player.pictureInPicture'), 'p');
    this.#label('airplay', t('player.airPlay'));
    this.#label('captions', t('player.captions'), 'c');
    this.#label('settings', t('player.settings'));
    this.#label('share', t('player.share'));
    this.#label('clip', t('player.clip'));
    this.#label('previous', t('player.previous'), '⇧P');
    this.#label('playlist', t('player.playlist'));
    this.#label('next', t('player.next'), '⇧N');
    this.#label('theatre', t(state.isTheatre ? 'player.exitTheatre' : 'player.theatre'), 't');
    this.get('theatre').setAttribute('aria-pressed', String(state.isTheatre === true));
    this.get('captions').classList.toggle(
      'is-on',
      captionTracks(media).some(({ mode }) => mode === 'showing'),
    );
    const isOffered: Readonly<Record<string, boolean>> = {
      previous: state.hasPrevious,
      next: state.hasNext,
      playlist: state.hasPlaylist,
      captions: captionTracks(media).length > 0,
      settings: state.hasSettings,
      share: state.canShare,
      clip: state.canClip,
      theatre: state.isTheatre !== undefined,
      chapter: state.hasChapters,
    };
    for (const [id, isShown] of Object.entries(isOffered)) this.get(id).hidden = !isShown;
    setText(this.get('chapter-name'), state.chapter || t('player.chapters'));
    this.get('chapter').setAttribute('aria-label', `${t('player.chapters')}: ${state.chapter}`);
    const volume = this.get<HTMLElement & { readonly range: HTMLInputElement }>('volume').range;
    this.#spokenTexts.set(volume, 'aria-label', t('player.volume'));
    const percent = t('player.percent', { value: isSilent ? 0 : media.volume });
    this.#spokenTexts.set(volume, 'aria-valuetext', percent);
  }

  #label(id: string, text: string, key?: string): void {
    const button = this.get(id);
    this.#spokenTexts.set(button, 'aria-label', text);
    const tooltip = button.querySelector('[slot="tooltip-content"]');
    if (tooltip !== null) setText(tooltip, key === undefined ? text : `${text} (${key})`);
  }

  #renderSeekBar(media: PlayerMedia, texts: PlayerTexts, state: ViewState, isLive: boolean): void {
    const seek = this.get<TimeRange>('seek');
    const { start, end } = seekable(media);
    const minSeconds = seek.hidden ? minRewindSeconds : minRewindSeconds / 2;
    const isShown = isLive ? end - start >= minSeconds || seek.isDragged : media.hasBegun || end > 0;
    if (seek.hidden === isShown) seek.hidden = !isShown;
    seek.isAtLiveEdge = isLive && media.isAtLiveEdge;
    const { range } = seek;
    const { t } = texts;
    this.#spokenTexts.set(range, 'aria-label', t('player.position'));
    const now = media.currentTime;
    const position = spokenTime(isLive ? end - now : now, texts);
    let spoken: string;
    if (!isLive)
      spoken = t('player.positionOf', { position, duration: spokenTime(media.duration || 0, texts) });
    else spoken = media.isAtLiveEdge ? t('player.live') : t('player.behindLive', { time: position });
    this.#spokenTexts.set(range, 'aria-valuetext', spoken);
    const growing = media.isGrowing
      ? media.availableSeconds / (media.details?.durationSeconds ?? Infinity)
      : 1;
    seek.style.setProperty('--available', `${Math.min(1, growing) * 100}%`);
    seek.classList.toggle('is-growing', media.isGrowing);
    seek.classList.toggle('has-chapters', state.hasChapters);
  }

  #renderLive(media: PlayerMedia, texts: PlayerTexts): void {
    const { t } = texts;
    const seconds = media.isSourceStalled ? undefined : media.latency?.seconds();
    const isAtEdge = seconds !== undefined && media.isAtLiveEdge;
    const live = this.get<HTMLButtonElement>('live');
    const label = t(seconds === undefined || isAtEdge ? 'player.live' : 'player.goToLive');
    live.hidden = false;
    live.disabled = seconds === undefined;
    live.classList.toggle('is-at-edge', isAtEdge);
    live.setAttribute('aria-label', label);
    setText(this.get('live-text'), label);
    const latency = this.get('latency');
    latency.hidden = seconds === undefined;
    const text = seconds === undefined ? '' : latencyText(seconds, texts);
    setText(latency, text && t('player.latencyBehind', { latency: text }));
    const viewers = this.get('viewers');
    const count = media.details?.viewers;
    viewers.hidden = count === undefined;
    setText(viewers, count === undefined ? '' : t('player.viewers', { count }));
  }

  #renderTime(media: PlayerMedia, { isAtEnd }: ViewState): void {
    const total = media.duration || media.details?.durationSeconds || 0;
    this.get('time').hidden = total === 0;
    setText(
      this.get('time-now'),
      formatTime(isAtEnd ? Math.max(media.currentTime, total - 0.01) : media.currentTime),
    );
    setText(this.get('time-total'), ` / ${formatTime(total)}`);
  }

  #renderPreview(
    media: PlayerMedia,
    { t, locale }: PlayerTexts,
    { chrome }: ViewState,
    isLive: boolean,
  ): void {
    const seconds = chrome.mediaPreviewTime;
    setText(this.get('preview-chapter'), chrome.mediaPreviewChapter ?? '');
    if (seconds === undefined) return;
    if (!isLive) {
      setText(this.get('preview-time'), formatTime(seconds));
      return;
    }
    const behind = seekable(media).end - seconds;
    const date = media.dateAt(seconds);
    const time = behind < liveEdgeSeconds ? t('player.live') : `−${formatTime(behind)}`;
    setText(
      this.get('preview-time'),
      date === undefined ? time : `${time} · ${formatClockTime(date, locale)}`,
    );
  }
}

export function seekable({ seekable: ranges }: PlayerMedia): {
  readonly start: number;
  readonly end: number;
} {
  return ranges.length === 0
    ? { start: 0, end: 0 }
    : { start: ranges.start(0), end: ranges.end(ranges.length - 1) };
}

export function captionTracks({ textTracks }: PlayerMedia): TextTrack[] {
  return [...textTracks].filter(({ kind }) => kind === 'captions' || kind === 'subtitles');
}
