import type { AudioControl } from '../media/audio-control.ts';
import { toggleFullscreen, togglePictureInPicture } from './fullscreen.ts';
import type { Hint } from './hint.ts';
import type { KeyHelp } from './key-help.ts';
import { isRepeatable, type KeyAction, keyActionOf } from './player-keys.ts';

const volumeStep = 0.1;

export interface KeyboardTarget {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly audio: AudioControl;
  readonly isLive: boolean;
  isReady(): boolean;
  toggle(): void;
  seekBy(seconds: number): void;
  /** 0 is the start of the seek bar, 1 its end. */
  seekToFraction(part: number): void;
  stepFrame(steps: 1 | -1): void;
  stepRate(steps: 1 | -1): number;
  /** Undefined without captions. */
  toggleCaptions(): boolean | undefined;
}

export class Keyboard {
  readonly #target: KeyboardTarget;
  readonly #hint: Hint;
  #help: Promise<KeyHelp> | undefined;

  constructor(target: KeyboardTarget, hint: Hint, onUse: () => void) {
    this.#target = target;
    this.#hint = hint;
    document.addEventListener('keydown', event => {
      const action = isForPlayer(event) ? keyActionOf(event.key) : undefined;
      if (action === undefined || (action.does !== 'help' && !target.isReady())) return;
      event.preventDefault();
      onUse();
      if (!event.repeat || isRepeatable(action)) this.#perform(action);
    });
  }

  #perform(action: KeyAction): void {
    const { root, video, audio } = this.#target;
    switch (action.does) {
      case 'toggle-play':
        this.#target.toggle();
        break;
      case 'mute':
        audio.toggleMuted();
        this.#hint.show(audio.volume === 0 ? 'Muted' : 'Unmuted');
        break;
      case 'volume':
        audio.setVolume(audio.volume + action.steps * volumeStep);
        this.#hint.show(`Volume ${Math.round(audio.volume * 100)} %`);
        break;
      case 'fullscreen':
        void toggleFullscreen(root, video);
        break;
      case 'picture-in-picture':
        if (document.pictureInPictureEnabled) void togglePictureInPicture(video);
        break;
      case 'captions':
        this.#toggleCaptions();
        break;
      case 'seek-by':
        this.#target.seekBy(action.seconds);
        this.#hint.show(seekText(action.seconds));
        break;
      case 'seek-to':
        this.#target.seekToFraction(action.part);
        break;
      case 'rate':
        this.#hint.show(`${this.#target.stepRate(action.steps)}×`);
        break;
      case 'frame':
        this.#target.stepFrame(action.steps);
        break;
      case 'help':
        void this.#openHelp();
        break;
    }
  }

  async #openHelp(): Promise<void> {
    const { root, isLive } = this.#target;
    this.#help ??= import('./key-help.ts').then(({ KeyHelp }) => new KeyHelp(root, isLive));
    try {
      (await this.#help).open();
    } catch {
      // The next key press tries again.
      this.#help = undefined;
    }
  }

  #toggleCaptions(): void {
    const isShown = this.#target.toggleCaptions();
    this.#hint.show(isShown === undefined ? 'No captions' : isShown ? 'Captions on' : 'Captions off');
  }
}

export function seekText(seconds: number): string {
  return seconds < 0 ? `−${-seconds} s` : `+${seconds} s`;
}

/** Leaves keys to fields, dialogs, focused buttons and sliders, and the browser. */
function isForPlayer(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return false;
  const { target } = event;
  if (!(target instanceof Element)) return true;
  if (target.closest('dialog, textarea, select, [contenteditable]') !== null) return false;
  if (target instanceof HTMLInputElement)
    return target.type === 'range' && !/^(Arrow|Home|End|Page)/.test(event.key);
  return !(event.key === ' ' && target instanceof HTMLButtonElement);
}
