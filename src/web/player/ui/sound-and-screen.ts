import type { AudioControl } from '../media/audio-control.ts';
import { canEnterFullscreen, toggleFullscreen, togglePictureInPicture } from './fullscreen.ts';
import { pageElement, setButton } from './page-elements.ts';

interface PlayerParts {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly sound: AudioControl;
}

/** The buttons that the players of broadcasts and of videos have in common. */
export class SoundAndScreen {
  readonly #parts: PlayerParts;
  readonly #mute = pageElement('mute', HTMLButtonElement);
  readonly #volume = pageElement('volume', HTMLInputElement);

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    const { root, video, sound } = parts;
    pageElement('unmute', HTMLButtonElement).addEventListener('click', () => sound.toggleMuted());
    this.#mute.addEventListener('click', () => sound.toggleMuted());
    this.#volume.addEventListener('input', () => sound.setVolume(Number(this.#volume.value)));
    const pip = pageElement('pip', HTMLButtonElement);
    pip.hidden = document.pictureInPictureEnabled !== true;
    pip.addEventListener('click', () => void togglePictureInPicture(video));
    const fullscreen = pageElement('fullscreen', HTMLButtonElement);
    fullscreen.hidden = !canEnterFullscreen(video);
    fullscreen.addEventListener('click', () => void toggleFullscreen(root, video));
    document.addEventListener('fullscreenchange', () => {
      const isFull = document.fullscreenElement !== null;
      const icon = isFull ? 'leave-fullscreen' : 'enter-fullscreen';
      setButton(fullscreen, icon, isFull ? 'Exit fullscreen' : 'Fullscreen');
    });
  }

  refresh(): void {
    const { root, sound } = this.#parts;
    root.classList.toggle('needs-unmute', sound.needsUnmute);
    setButton(this.#mute, sound.volume === 0 ? 'muted' : 'sound', sound.volume === 0 ? 'Unmute' : 'Mute');
    this.#volume.value = String(sound.volume);
    this.#volume.style.setProperty('--filled', `${sound.volume * 100}%`);
    this.#volume.setAttribute('aria-valuetext', `${Math.round(sound.volume * 100)} %`);
  }
}
