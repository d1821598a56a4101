import { withBasePath } from '../shared/base-path.ts';
import { AudioControl } from './media/audio-control.ts';
import { Captions } from './media/captions.ts';
import { PlaybackIntent } from './media/playback-intent.ts';
import { PlayerSettings } from './media/player-settings.ts';
import { pageReports, reportPlayback } from './report-playback.ts';
import { SdkLink } from './sdk/sdk-link.ts';
import { replaceColors, showLogo } from './theme/apply-theme.ts';
import type { PlayerTheme } from './theme/player-theme.ts';
import { onThemePreview } from './theme/theme-preview.ts';
import { markAudioOnly } from './ui/audio-only.ts';
import { pageElement } from './ui/page-elements.ts';
import { PlayRange } from './vod/play-range.ts';
import { VodControls } from './vod/vod-controls.ts';
import { autoQuality } from './vod/vod-media.ts';
import { parseVodOptions } from './vod/vod-options.ts';
import { VodPlayer } from './vod/vod-player.ts';
import { type VodPhase, VodSession } from './vod/vod-session.ts';
import { parseVodState, type VodState } from './vod/vod-state.ts';

/** Used by tests and the demo. */
interface VodHandle {
  /** Adds `ended` and `playing` to the phases; `ready` means paused. */
  state(): VodPhase | 'playing' | 'ended';
  qualities(): readonly string[];
  currentQuality(): string | undefined;
  chosenQuality(): string | undefined;
  availableSeconds(): number;
}

const screenTexts: Partial<Record<VodPhase, { readonly title: string; readonly text: string }>> = {
  processing: {
    title: 'This video is being processed',
    text: 'Playback starts automatically when it’s ready.',
  },
  failed: {
    title: 'This video couldn’t be processed',
    text: 'The owner can see why and upload another file.',
  },
  missing: {
    title: 'Video not found',
    text: 'It was removed, or the link has expired. Open the page again.',
  },
  refused: {
    title: 'This video can’t be played',
    text: 'The link has expired, or it isn’t allowed on this site or in your country. Open the page again.',
  },
  unsupported: {
    title: 'This browser can’t play the video',
    text: 'It supports neither Media Source Extensions nor HLS, or lacks a codec. Use a current version of Chrome, Edge, Firefox or Safari.',
  },
};

const previewedPart = 0.35;

const unreachableText = 'Can’t reach the server. Retrying…';

const root = pageElement('player', HTMLElement);
const video = pageElement('video', HTMLVideoElement);
const poster = pageElement('poster', HTMLImageElement);
const statusTitle = pageElement('status-title', HTMLElement);
const statusText = pageElement('status-text', HTMLElement);
const notice = pageElement('notice', HTMLElement);
const options = parseVodOptions(location.hash, location.search);
const firstState = parseVodState(root.dataset.video ?? '{}', withBasePath(''));
const { theme } = firstState;
const settings = new PlayerSettings();
let shownTheme: string | undefined;
let previewedTheme: PlayerTheme | undefined;

const session = new VodSession(
  firstState,
  video,
  { startSeconds: options.startSeconds, base: withBasePath(''), settings },
  {
    onPhase: phase => showPhase(phase),
    onState: state => takeState(state),
    onReachable: isReachable => showReachable(isReachable),
    onMediaChange: () => {
      showForPreview();
      controls.refresh();
    },
  },
);
const audio = new AudioControl(video, options, () => controls.refresh());
const isAutoplaying = options.autoplay || theme?.forceAutoplay === true;
const playing = new PlaybackIntent(video, audio, { wantsToPlay: isAutoplaying }, () => controls.refresh());
const player = new VodPlayer({
  root,
  video,
  session,
  playing,
  audio,
  settings,
  range: new PlayRange(options.startSeconds, options.endSeconds),
  isLooping: options.loop || theme?.forceLoop === true,
  onChange: () => controls.refresh(),
});
const captions = new Captions(video, settings, () => controls.refresh());
const controls: VodControls = new VodControls(player, captions, {
  hideControls: options.hideControls || theme?.enableControls === false,
  hideTitle: options.hideTitle || theme?.hideTitle === true,
  hidePoster: options.hidePoster,
});

function takeState(state: VodState): void {
  captions.setTracks(state.captions, options.showSubtitles);
  controls.update(state);
  takeTheme(previewedTheme ?? state.theme);
  if (state !== firstState && state.poster !== '') poster.src = freshAddress(state.poster, state.revision);
  root.classList.toggle('has-thumbnail', state.hasThumbnail);
  for (const id of ['title', 'artwork-title']) pageElement(id, HTMLElement).textContent = state.title;
  showMediaSession(state);
}

/** Keeps what the SDK changed until the theme changes. */
function takeTheme(theme: PlayerTheme | undefined): void {
  const text = JSON.stringify(theme ?? null);
  if (text === shownTheme) return;
  const isFirst = shownTheme === undefined;
  shownTheme = text;
  replaceColors(root, theme?.colors ?? {});
  showLogo(pageElement('logo', HTMLElement), theme?.logo);
  if (isFirst) return;
  controls.setHidden('controls', options.hideControls || theme?.enableControls === false);
  controls.setHidden('title', options.hideTitle || theme?.hideTitle === true);
  player.isLooping = options.loop || theme?.forceLoop === true;
}

/** Seeks, so that the preview shows the controls on a frame instead of the poster. */
function showForPreview(): void {
  if (previewedTheme === undefined || player.hasBegun) return;
  player.seekTo(session.media.availableSeconds * previewedPart);
}

/** Browsers keep an image for as long as the page is open. */
function freshAddress(address: string, revision: number): string {
  return `${address}${address.includes('?') ? '&' : '?'}v=${revision}`;
}

function showPhase(phase: VodPhase): void {
  root.dataset.phase = phase;
  notice.textContent = '';
  const texts = screenTexts[phase];
  if (texts !== undefined) {
    statusTitle.textContent = texts.title;
    statusText.textContent = (phase === 'refused' ? session.refusal?.text : undefined) ?? texts.text;
  }
  controls.refresh();
}

function showReachable(isReachable: boolean): void {
  if (session.phase === 'ready') {
    notice.textContent = isReachable ? '' : 'Connection lost. Retrying…';
  } else {
    statusText.textContent = isReachable ? (screenTexts[session.phase]?.text ?? '') : unreachableText;
  }
}

function showMediaSession({ title, poster: artwork }: VodState): void {
  if (!('mediaSession' in navigator)) return;
  const { mediaSession } = navigator;
  mediaSession.metadata = new MediaMetadata({
    title,
    artwork: artwork === '' ? [] : [{ src: new URL(artwork, location.href).href, type: 'image/jpeg' }],
  });
  mediaSession.setActionHandler('play', () => player.play());
  mediaSession.setActionHandler('pause', () => player.pause());
  mediaSession.setActionHandler('seekbackward', ({ seekOffset }) => player.seekBy(-(seekOffset ?? 10)));
  mediaSession.setActionHandler('seekforward', ({ seekOffset }) => player.seekBy(seekOffset ?? 10));
  mediaSession.setActionHandler('seekto', ({ seekTime }) => player.seekTo(seekTime ?? 0));
}

const edgeSeconds = 3;
for (const [event, isBuffering] of [
  ['waiting', true],
  ['seeking', true],
  ['playing', false],
  ['canplay', false],
  ['seeked', false],
  ['pause', false],
] as const) {
  video.addEventListener(event, () => root.classList.toggle('is-buffering', isBuffering));
}
video.addEventListener('waiting', () => {
  const { media } = session;
  if (media.isGrowing && media.availableSeconds - video.currentTime < edgeSeconds) {
    notice.textContent = 'The rest of this video is still being processed…';
  }
});
video.addEventListener('playing', () => {
  notice.textContent = '';
});

Object.defineProperty(window, 'millrace', {
  value: Object.freeze({
    state: () => {
      if (session.phase !== 'ready') return session.phase;
      return player.isAtEnd ? 'ended' : playing.wantsToPlay && player.hasBegun ? 'playing' : 'ready';
    },
    qualities: () => session.media.qualities.map(({ label }) => label),
    currentQuality: () => session.media.currentQuality?.label,
    chosenQuality: () => {
      const { media } = session;
      const chosen = media.chosenQuality;
      return chosen === autoQuality ? undefined : media.qualities.find(({ id }) => id === chosen)?.label;
    },
    availableSeconds: () => session.media.availableSeconds,
  } satisfies VodHandle),
});

markAudioOnly(root, video);
player.setRate(settings.current.rate, false);
takeState(firstState);
if (options.sdk !== undefined && theme?.enableApi !== false && parent !== window) {
  new SdkLink(options.sdk, {
    player,
    controls,
    captions,
    audioTracks: session.media.audioTracks,
    destroy: () => {
      player.pause();
      session.end();
    },
  });
}
onThemePreview(theme => {
  previewedTheme = theme;
  takeTheme(theme);
  showForPreview();
});
reportPlayback(video, { mediaId: firstState.videoId, isLive: false, ...pageReports() });
session.start();
controls.refresh();
