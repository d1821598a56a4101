import type { AudioControl } from './audio-control.ts';

/** The intent of the viewer to watch, independent of the state of the video element. */
export class PlaybackIntent {
  readonly #video: HTMLVideoElement;
  readonly #audio: AudioControl;
  readonly #onChange: () => void;
  #wantsToPlay: boolean;

  constructor(
    video: HTMLVideoElement,
    audio: AudioControl,
    { wantsToPlay, signal }: { readonly wantsToPlay: boolean; readonly signal?: AbortSignal },
    onChange: () => void,
  ) {
    this.#video = video;
    this.#audio = audio;
    this.#wantsToPlay = wantsToPlay;
    this.#onChange = onChange;
    // Every source begins paused.
    const onLoaded = () => {
      if (this.#wantsToPlay) void this.#play();
    };
    // Media keys and the picture-in-picture window pause the element itself.
    const onPause = () => {
      if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || video.ended) return;
      if (this.#wantsToPlay && audio.wasUnmutedByBrowser) {
        void this.#play();
        return;
      }
      this.#wantsToPlay = false;
      onChange();
    };
    const onPlay = () => {
      this.#wantsToPlay = true;
      onChange();
    };
    video.addEventListener('loadeddata', onLoaded, { signal });
    video.addEventListener('pause', onPause, { signal });
    video.addEventListener('play', onPlay, { signal });
  }

  get wantsToPlay(): boolean {
    return this.#wantsToPlay;
  }

  toggle(): void {
    this.#wantsToPlay = !this.#wantsToPlay;
    if (this.#wantsToPlay) void this.#play();
    else this.#video.pause();
    this.#onChange();
  }

  start(): void {
    if (!this.#wantsToPlay) this.toggle();
  }

  end(): void {
    this.#wantsToPlay = false;
    this.#onChange();
  }

  /** Plays with audio if the browser allows it, else muted, else not until a click. */
  async #play(): Promise<void> {
    try {
      await this.#video.play();
    } catch (error) {
      // A newer source replaced this one and has its own event.
      if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return;
      if (this.#video.muted) {
        this.#wantsToPlay = false;
        this.#onChange();
        return;
      }
      this.#audio.muteForAutoplay();
      await this.#play();
    }
  }
}
