import type { AudioControl } from './audio-control.ts';

/** Whether the viewer wants to see the stream, kept apart from what the video element happens to do. */
export class PlaybackIntent {
  readonly #video: HTMLVideoElement;
  readonly #sound: AudioControl;
  readonly #onChange: () => void;
  #wantsToPlay: boolean;

  constructor(video: HTMLVideoElement, sound: AudioControl, wantsToPlay: boolean, onChange: () => void) {
    this.#video = video;
    this.#sound = sound;
    this.#wantsToPlay = wantsToPlay;
    this.#onChange = onChange;
    // Every new source begins paused.
    video.addEventListener('loadeddata', () => {
      if (this.#wantsToPlay) void this.#play();
    });
    // Media keys and the small window's button pause the element itself.
    video.addEventListener('pause', () => {
      if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || video.ended) return;
      this.#wantsToPlay = false;
      onChange();
    });
    video.addEventListener('play', () => {
      this.#wantsToPlay = true;
      onChange();
    });
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

  /** The viewer wants to see the stream. */
  start(): void {
    if (!this.#wantsToPlay) this.toggle();
  }

  /** The viewer has seen all of it: it rests until they want it again. */
  end(): void {
    this.#wantsToPlay = false;
    this.#onChange();
  }

  /** With sound if the browser allows it, else without, else not until the viewer asks. */
  async #play(): Promise<void> {
    try {
      await this.#video.play();
    } catch (error) {
      // Another source took this one's place: that one is played by its own event.
      if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return;
      if (this.#video.muted) {
        this.#wantsToPlay = false;
        this.#onChange();
        return;
      }
      this.#sound.muteForAutoplay();
      await this.#play();
    }
  }
}
