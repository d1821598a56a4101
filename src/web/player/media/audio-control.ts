const storageKey = 'millrace.sound';

/** The sound of a video: remembered between visits, and mute where the browser lets nothing play with sound. */
export class AudioControl {
  readonly #video: HTMLVideoElement;
  readonly #onChange: () => void;
  /** Muted by the browser's rules or the page's address, not by the viewer. */
  #isMutedForAutoplay = false;

  constructor(video: HTMLVideoElement, options: { readonly muted: boolean }, onChange: () => void) {
    this.#video = video;
    this.#onChange = onChange;
    this.#restore();
    if (options.muted && !video.muted) {
      this.#isMutedForAutoplay = true;
      video.muted = true;
    }
    video.addEventListener('volumechange', () => onChange());
  }

  /** Whether the viewer should be offered to turn the sound on. */
  get needsUnmute(): boolean {
    return this.#isMutedForAutoplay && this.#video.muted;
  }

  /** 0 to 1. */
  get volume(): number {
    return this.#video.muted ? 0 : this.#video.volume;
  }

  /** Mutes because nothing else is allowed; the viewer's own choice is kept. */
  muteForAutoplay(): void {
    this.#isMutedForAutoplay = true;
    this.#video.muted = true;
    this.#onChange();
  }

  /** The viewer sets the volume, 0 to 1. */
  setVolume(volume: number): void {
    this.#isMutedForAutoplay = false;
    const wanted = Math.min(1, Math.max(0, volume));
    if (wanted > 0) this.#video.volume = wanted;
    this.#video.muted = wanted === 0;
    this.#save();
  }

  /** The viewer turns the sound off or on. */
  toggleMuted(): void {
    this.#isMutedForAutoplay = false;
    this.#video.muted = !this.#video.muted;
    this.#save();
  }

  #save(): void {
    try {
      localStorage.setItem(
        storageKey,
        JSON.stringify({ volume: this.#video.volume, muted: this.#video.muted }),
      );
    } catch {
      // A frame on another site may have no storage; then the next visit begins with full sound.
    }
  }

  #restore(): void {
    try {
      const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Record<string, unknown>;
      if (typeof stored.volume === 'number') this.#video.volume = Math.min(1, Math.max(0.05, stored.volume));
      this.#video.muted = stored.muted === true;
    } catch {
      // As above, or something else wrote there.
    }
  }
}
