import { withBasePath } from '../shared/base-path.ts';
import { ClipControl } from './live/clip-control.ts';
import { LiveControls } from './live/live-controls.ts';
import { parseLiveOptions } from './live/live-options.ts';
import { LivePlayer } from './live/live-player.ts';
import { LiveSession, type Phase } from './live/live-session.ts';
import { ServerClock } from './live/server-clock.ts';
import type { StreamState } from './live/stream-watcher.ts';
import { AudioControl } from './media/audio-control.ts';
import { Captions } from './media/captions.ts';
import { PlaybackIntent } from './media/playback-intent.ts';
import { PlayerSettings } from './media/player-settings.ts';
import type { PageOptions } from './page-options.ts';
import { pageReports, reportPlayback } from './report-playback.ts';
import { SdkLink } from './sdk/sdk-link.ts';
import { replaceColors, showLogo } from './theme/apply-theme.ts';
import { parseTheme } from './theme/player-theme.ts';
import { markAudioOnly } from './ui/audio-only.ts';
import { pageElement } from './ui/page-elements.ts';

/** Used by tests and the demo. */
interface MillraceHandle {
  latencySeconds(): number | undefined;
  state(): Phase;
}

declare global {
  interface Window {
    readonly millrace: MillraceHandle;
  }
}

interface ScreenText {
  readonly title: string;
  readonly text: string;
}

const screenTexts: Partial<Record<Phase, ScreenText>> = {
  waiting: {
    title: 'Waiting for the stream',
    text: 'Playback starts automatically when the broadcast begins.',
  },
  starting: { title: 'The stream is starting', text: 'Playback begins in a moment.' },
  ended: {
    title: 'The stream has ended',
    text: 'If the broadcast resumes, playback continues automatically.',
  },
  refused: {
    title: 'This stream can’t be played',
    text: 'The link has expired, or it isn’t allowed on this site or in your country. Open the page again.',
  },
  unsupported: {
    title: 'This browser can’t play the stream',
    text: 'It supports neither Media Source Extensions nor HLS. Use a current version of Chrome, Edge, Firefox or Safari.',
  },
};

const interruptedText: ScreenText = {
  title: 'The broadcast is interrupted',
  text: 'Playback continues automatically when the broadcaster reconnects.',
};

const root = pageElement('player', HTMLElement);
const video = pageElement('video', HTMLVideoElement);
const statusTitle = pageElement('status-title', HTMLElement);
const statusText = pageElement('status-text', HTMLElement);
const notice = pageElement('notice', HTMLElement);
const requested = parseLiveOptions(location.hash, location.search);
const theme = parseTheme(JSON.parse(root.dataset.theme ?? 'null'), withBasePath(''));
const options: PageOptions = {
  ...requested,
  autoplay: requested.autoplay || theme?.forceAutoplay === true,
  hideControls: requested.hideControls || theme?.enableControls === false,
  hideTitle: requested.hideTitle || theme?.hideTitle === true,
};
replaceColors(root, theme?.colors ?? {});
showLogo(pageElement('logo', HTMLElement), theme?.logo);

const streamId = root.dataset.streamId ?? '';
// A private stream may become public while its page is open, and private again.
const hls = new Set([root.dataset.hls ?? '', withBasePath(`/${streamId}.m3u8`)]);
const settings = new PlayerSettings();
const query = root.dataset.query ?? '';
const whep = root.dataset.ultraLowLatency === 'true' ? withBasePath(`/whep/${streamId}${query}`) : undefined;
const session = new LiveSession(
  { hls: [...hls], page: withBasePath(`/live/${streamId}`), query, whep },
  video,
  { clock: ServerClock.ofPage(Number(root.dataset.serverTimeMs)), settings },
  {
    onPhase: phase => showPhase(phase),
    onReachable: isReachable => {
      if (!isReachable) statusText.textContent = 'Can’t reach the server. Retrying…';
      else statusText.textContent = screenTexts[session.phase]?.text ?? '';
    },
    onSourceStalled: isSilent => {
      notice.textContent = isSilent
        ? 'The broadcaster’s connection was interrupted. Waiting for it to reconnect…'
        : '';
      if (session.phase === 'starting') showText(isSilent ? interruptedText : screenTexts.starting);
      controls.refresh();
    },
  },
);
const audio = new AudioControl(video, options, () => controls.refresh());
const playing = new PlaybackIntent(video, audio, { wantsToPlay: options.autoplay }, () => controls.refresh());
const captions = new Captions(video, settings, () => controls.refresh());
const clips =
  root.dataset.viewerClips === 'true'
    ? new ClipControl(withBasePath(`/clips/${streamId}${query}`), session, video)
    : undefined;
const controls: LiveControls = new LiveControls(
  { root, video, session, playing, audio, captions, clips },
  options,
);

function showPhase(phase: Phase): void {
  root.dataset.phase = phase;
  notice.textContent = phase === 'reconnecting' ? 'Connection lost. Reconnecting…' : '';
  showText(screenTexts[phase]);
  if (session.refusal?.text !== undefined) statusText.textContent = session.refusal.text;
  controls.refresh();
}

function showText(shown: ScreenText | undefined): void {
  if (shown === undefined) return;
  statusTitle.textContent = shown.title;
  statusText.textContent = shown.text;
}

for (const [event, isBuffering] of [
  ['waiting', true],
  ['emptied', true],
  ['playing', false],
  ['seeked', false],
  ['pause', false],
] as const) {
  video.addEventListener(event, () => root.classList.toggle('is-buffering', isBuffering));
}

if ('mediaSession' in navigator) {
  navigator.mediaSession.metadata = new MediaMetadata({ title: document.title });
}

Object.defineProperty(window, 'millrace', {
  value: Object.freeze({
    latencySeconds: () => session.latencySeconds(),
    state: () => session.phase,
  } satisfies MillraceHandle),
});

root.classList.toggle('hide-poster', requested.hidePoster);
root.classList.toggle('has-thumbnail', root.querySelector('.poster') !== null);
markAudioOnly(root, video);
if (requested.sdk !== undefined && theme?.enableApi !== false && parent !== window) {
  const player = new LivePlayer({ root, video, session, playing, audio });
  new SdkLink(requested.sdk, {
    player,
    controls: { setHidden: (part, isHidden) => root.classList.toggle(`hide-${part}`, isHidden) },
    captions,
    audioTracks: session.media.audioTracks,
    destroy: () => {
      player.pause();
      session.end();
    },
  });
}
reportPlayback(video, { mediaId: streamId, isLive: true, ...pageReports() });
session.start(video, JSON.parse(root.dataset.state ?? '{"live":false,"broadcastId":null}') as StreamState);
controls.refresh();
