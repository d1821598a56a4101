import type { AudioControl } from '../media/audio-control.ts';
import type { Captions } from '../media/captions.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import type { PageOptions } from '../page-options.ts';
import { AudioAndScreen } from '../ui/audio-and-screen.ts';
import { toggleFullscreen } from '../ui/fullscreen.ts';
import { Hint } from '../ui/hint.ts';
import { IdleHiding } from '../ui/idle-hiding.ts';
import { Keyboard, type KeyboardTarget } from '../ui/keyboard.ts';
import { pageElement, setButton } from '../ui/page-elements.ts';
import type { ClipControl } from './clip-control.ts';
import { formatLatency } from './latency-text.ts';
import { LiveMenus } from './live-menus.ts';
import { LiveSeekBar } from './live-seek-bar.ts';
import type { LiveSession } from './live-session.ts';

const latencyRefreshMs = 500;

interface LiveControlsTarget {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly session: LiveSession;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly captions: Captions;
  /** Undefined where viewers cannot clip. */
  readonly clips: ClipControl | undefined;
}

export class LiveControls {
  readonly #player: LiveControlsTarget;
  readonly #play = pageElement('play', HTMLButtonElement);
  readonly #live = pageElement('live', HTMLButtonElement);
  readonly #liveText = pageElement('live-text', HTMLElement);
  readonly #latency = pageElement('latency', HTMLElement);
  readonly #latencyText = pageElement('latency-text', HTMLElement);
  readonly #audioAndScreen: AudioAndScreen;
  readonly #idleHiding: IdleHiding;
  readonly #seekBar: LiveSeekBar;
  readonly #menus: LiveMenus;

  constructor(player: LiveControlsTarget, options: PageOptions) {
    this.#player = player;
    this.#idleHiding = new IdleHiding(player.root, () => player.playing.wantsToPlay && !this.#menus.isOpen);
    this.#menus = new LiveMenus(player, () => this.#idleHiding.show());
    player.root.classList.toggle('hide-title', options.hideTitle);
    player.root.classList.toggle('hide-controls', options.hideControls);
    this.#seekBar = new LiveSeekBar(player.session.media, player.video, () => {
      this.#idleHiding.show();
      this.#showLatency();
    });
    this.#audioAndScreen = new AudioAndScreen(player);
    this.#wireButtons();
    this.#wireVideo();
    new Keyboard(this.#keyboardTarget(), new Hint(), () => this.#idleHiding.show());
    setInterval(() => this.#showLatency(), latencyRefreshMs);
  }

  refresh(): void {
    const { root, playing } = this.#player;
    const isPlaying = playing.wantsToPlay;
    root.classList.toggle('is-paused', !isPlaying);
    setButton(this.#play, isPlaying ? 'pause' : 'play', isPlaying ? 'Pause' : 'Play');
    this.#audioAndScreen.refresh();
    this.#showLatency();
    this.#idleHiding.show();
  }

  #keyboardTarget(): KeyboardTarget {
    const { root, video, session, playing, audio, captions } = this.#player;
    const { media } = session;
    return {
      root,
      video,
      audio,
      isLive: true,
      isReady: () => session.phase === 'live' || session.phase === 'reconnecting',
      toggle: () => playing.toggle(),
      seekBy: seconds => session.seekBy(seconds),
      seekToFraction: part => (part === 1 ? this.#goToLive() : session.seekToFraction(part)),
      stepFrame: steps => {
        if (playing.wantsToPlay) playing.toggle();
        media.seekBy(steps / media.frameRate);
      },
      stepRate: steps => (session.webRtc.isActive ? 1 : media.stepRate(steps)),
      toggleCaptions: () => captions.toggle(),
    };
  }

  #wireButtons(): void {
    const { playing } = this.#player;
    this.#play.addEventListener('click', () => playing.toggle());
    pageElement('big-play', HTMLButtonElement).addEventListener('click', () => playing.toggle());
    this.#live.addEventListener('click', () => this.#goToLive());
  }

  #wireVideo(): void {
    const { root, video, playing } = this.#player;
    video.addEventListener('click', event => {
      const isTouch = event instanceof PointerEvent && event.pointerType !== 'mouse';
      if (!isTouch) playing.toggle();
      else if (this.#idleHiding.isHidden) this.#idleHiding.show();
      else this.#idleHiding.hide();
    });
    video.addEventListener('dblclick', () => void toggleFullscreen(root, video));
  }

  #showLatency(): void {
    const { session } = this.#player;
    const { media } = session;
    const seconds = session.latencySeconds();
    const hasVideo = seconds !== undefined && !media.isSourceStalled;
    const isBehind = hasVideo && session.isBehindLive(this.#player.playing.wantsToPlay);
    const label = isBehind ? 'Go to live' : 'Live';
    this.#latency.hidden = !hasVideo;
    this.#latencyText.textContent = hasVideo ? formatLatency(seconds) : '';
    this.#live.classList.toggle('is-at-edge', hasVideo && !isBehind);
    this.#live.disabled = !hasVideo;
    this.#seekBar.refresh();
    this.#menus.refresh();
    if (this.#liveText.textContent === label) return;
    this.#liveText.textContent = label;
    this.#live.setAttribute('aria-label', label);
  }

  #goToLive(): void {
    const { session, playing } = this.#player;
    if (playing.wantsToPlay && session.isAtLiveEdge()) return;
    session.goToLive();
    playing.start();
  }
}
