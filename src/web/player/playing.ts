import type { Sound } from './sound.ts';

/** Whether the viewer wants to see the stream, kept apart from what the video element happens to do. */
export class Playing {
  readonly #video: HTMLVideoElement;
  readonly #sound: Sound;
  readonly #onChange: () => void;
  #isWanted: boolean;

  constructor(video: HTMLVideoElement, sound: Sound, isWanted: boolean, onChange: () => void) {
    this.#video = video;
    this.#sound = sound;
    this.#isWanted = isWanted;
    this.#onChange = onChange;
    // Every new source begins paused.
    video.addEventListener('loadeddata', () => {
      if (this.#isWanted) void this.#play();
    });
    // Media keys and the small window's button pause the element itself.
    video.addEventListener('pause', () => {
      if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || video.ended) return;
      this.#isWanted = false;
      onChange();
    });
    video.addEventListener('play', () => {
      this.#isWanted = true;
      onChange();
    });
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  toggle(): void {
    this.#isWanted = !this.#isWanted;
    if (this.#isWanted) void this.#play();
    else this.#video.pause();
    this.#onChange();
  }

  /** The viewer wants to see the stream. */
  want(): void {
    if (!this.#isWanted) this.toggle();
  }

  /** The viewer has seen all of it: it rests until they want it again. */
  finish(): void {
    this.#isWanted = false;
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
        this.#isWanted = false;
        this.#onChange();
        return;
      }
      this.#sound.muteForViewer();
      await this.#play();
    }
  }
}
