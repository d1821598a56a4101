import type { AudioControl } from '../media/audio-control.ts';
import { canEnterFullscreen, toggleFullscreen, togglePictureInPicture } from './fullscreen.ts';
import { pageElement, setButton } from './page-elements.ts';

interface PlayerParts {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly audio: AudioControl;
}

export class AudioAndScreen {
  readonly #parts: PlayerParts;
  readonly #mute = pageElement('mute', HTMLButtonElement);
  readonly #volume = pageElement('volume', HTMLInputElement);

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    const { root, video, audio } = parts;
    pageElement('unmute', HTMLButtonElement).addEventListener('click', () => audio.toggleMuted());
    this.#mute.addEventListener('click', () => audio.toggleMuted());
    this.#volume.addEventListener('input', () => audio.setVolume(Number(this.#volume.value)));
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
    const { root, audio } = this.#parts;
    root.classList.toggle('needs-unmute', audio.needsUnmute);
    setButton(this.#mute, audio.volume === 0 ? 'muted' : 'sound', audio.volume === 0 ? 'Unmute' : 'Mute');
    this.#volume.value = String(audio.volume);
    this.#volume.style.setProperty('--filled', `${audio.volume * 100}%`);
    this.#volume.setAttribute('aria-valuetext', `${Math.round(audio.volume * 100)} %`);
  }
}
