import { parseChapters } from '../../shared/chapters.ts';
import { saveFile } from '../../shared/save-file.ts';
import { formatTime } from '../../shared/time-text.ts';
import { type Captions, preferredTrack } from '../media/captions.ts';
import { AudioAndScreen } from '../ui/audio-and-screen.ts';
import { togglePictureInPicture } from '../ui/fullscreen.ts';
import { Hint } from '../ui/hint.ts';
import { IdleHiding } from '../ui/idle-hiding.ts';
import { Keyboard, type KeyboardTarget, seekText } from '../ui/keyboard.ts';
import { pageElement, setButton } from '../ui/page-elements.ts';
import { PopupMenu } from '../ui/popup-menu.ts';
import { VideoGestures } from './video-gestures.ts';
import { VodMenus } from './vod-menus.ts';
import type { VodPlayer } from './vod-player.ts';
import { VodSeekBar } from './vod-seek-bar.ts';
import type { VodState } from './vod-state.ts';

interface VodControlsOptions {
  /** Keeps only the keys for playback. */
  readonly hideControls: boolean;
  readonly hideTitle: boolean;
  readonly hidePoster: boolean;
}

export class VodControls {
  readonly #player: VodPlayer;
  readonly #captions: Captions;
  readonly #bar: VodSeekBar;
  readonly #menu = new PopupMenu(isOpen => this.#onMenu(isOpen));
  readonly #menus: VodMenus;
  readonly #idleHiding: IdleHiding;
  readonly #play = pageElement('play', HTMLButtonElement);
  readonly #bigPlay = pageElement('big-play', HTMLButtonElement);
  readonly #audioAndScreen: AudioAndScreen;
  readonly #download = pageElement('download', HTMLButtonElement);
  readonly #hint = new Hint();
  readonly #badge = pageElement('badge', HTMLElement);
  #chaptersAddress: string | undefined;
  #focusesPlayButton = false;

  constructor(player: VodPlayer, captions: Captions, options: VodControlsOptions) {
    const { root, video } = player;
    this.#player = player;
    this.#captions = captions;
    this.#bar = new VodSeekBar(player);
    this.#idleHiding = new IdleHiding(
      root,
      () => player.playing.wantsToPlay && !this.#menu.isOpen && !this.#bar.isDragged,
    );
    const canLeavePage = document.pictureInPictureEnabled === true;
    const openSmallWindow = canLeavePage ? () => void togglePictureInPicture(video) : undefined;
    this.#menus = new VodMenus(this.#menu, {
      player,
      captions,
      chapters: () => this.#bar.chapters,
      openSmallWindow,
    });
    new VideoGestures(player, pageElement('surface', HTMLElement), this.#idleHiding, {
      onSeek: seconds => this.#hint.show(seekText(seconds)),
      isTaken: () => this.#menu.wasJustDismissed,
    });
    this.setHidden('controls', options.hideControls);
    this.setHidden('title', options.hideTitle);
    this.setHidden('poster', options.hidePoster);
    this.#audioAndScreen = new AudioAndScreen(player);
    this.#wireButtons();
    new MutationObserver(() => this.#raiseCaptions()).observe(root, {
      attributeFilter: ['class', 'data-phase'],
    });
    new Keyboard(this.#keyboardTarget(), this.#hint, () => this.#idleHiding.show());
  }

  setHidden(part: 'controls' | 'title' | 'poster', isHidden: boolean): void {
    this.#player.root.classList.toggle(`hide-${part}`, isHidden);
    if (isHidden && part === 'controls') this.#menu.close();
  }

  update(state: VodState): void {
    this.#bar.preview.setStoryboard(state.storyboard);
    this.#download.hidden = state.mp4 === undefined;
    this.#badge.textContent = state.duration === undefined ? '' : formatTime(state.duration);
    void this.#loadChapters(state);
    this.refresh();
  }

  refresh(): void {
    const { root, playing, hasBegun, isAtEnd } = this.#player;
    const isPlaying = playing.wantsToPlay;
    root.classList.toggle('is-paused', !isPlaying);
    root.classList.toggle('is-fresh', !hasBegun);
    root.classList.toggle('is-at-end', isAtEnd);
    const does = isAtEnd ? 'Replay' : isPlaying ? 'Pause' : 'Play';
    setButton(this.#play, does.toLowerCase(), does);
    setButton(this.#bigPlay, isAtEnd ? 'replay' : 'play', isAtEnd ? 'Replay' : 'Play');
    this.#audioAndScreen.refresh();
    this.#bar.refresh();
    this.#menus.refresh();
    if (!isPlaying) this.#idleHiding.show();
    if (!this.#focusesPlayButton || !hasBegun) return;
    this.#focusesPlayButton = false;
    this.#play.focus({ preventScroll: true });
  }

  #keyboardTarget(): KeyboardTarget {
    const player = this.#player;
    const captions = this.#captions;
    const { root, video, audio, session } = player;
    return {
      root,
      video,
      audio,
      isLive: false,
      isReady: () => session.phase === 'ready',
      toggle: () => player.toggle(),
      seekBy: seconds => player.seekBy(seconds),
      seekToFraction: part => player.seekTo(part * player.totalSeconds),
      stepFrame: steps => player.stepFrame(steps),
      stepRate: steps => {
        player.stepRate(steps);
        return video.playbackRate;
      },
      toggleCaptions: () => captions.toggle(),
    };
  }

  #wireButtons(): void {
    this.#play.addEventListener('click', () => this.#player.toggle());
    this.#bigPlay.addEventListener('click', ({ detail }) => {
      // The button disappears, so the focus moves to the controls.
      this.#focusesPlayButton = detail === 0;
      this.#player.play();
    });
    this.#download.addEventListener('click', () => this.#downloadFile());
    this.#player.video.addEventListener('ratechange', () => this.#menus.refresh());
  }

  #downloadFile(): void {
    const { mp4 } = this.#player.session.state;
    if (mp4 !== undefined) saveFile(downloadUrl(mp4), '');
  }

  async #loadChapters(state: VodState): Promise<void> {
    const address = preferredTrack(state.chapters, navigator.languages)?.src;
    if (address === this.#chaptersAddress) return;
    this.#chaptersAddress = address;
    const chapters = address === undefined ? [] : parseChapters(await fetchText(address));
    if (address !== this.#chaptersAddress) return;
    this.#bar.setChapters(chapters);
    this.#menus.refresh();
  }

  #onMenu(isOpen: boolean): void {
    this.#player.root.classList.toggle('has-menu', isOpen);
    this.#idleHiding.show();
  }

  #raiseCaptions(): void {
    const { classList } = this.#player.root;
    this.#captions.raise(!classList.contains('is-idle') && !classList.contains('hide-controls'));
  }
}

/** `dl` makes the server send a file name. */
function downloadUrl(address: string): string {
  const url = new URL(address, location.href);
  url.searchParams.set('dl', '1');
  return url.href;
}

async function fetchText(address: string): Promise<string> {
  try {
    const answer = await fetch(address);
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}
