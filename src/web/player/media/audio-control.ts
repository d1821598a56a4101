const storageKey = 'millrace.sound';

/** Stored between visits, and muted where the browser forbids autoplay with audio. */
export class AudioControl {
  readonly #video: HTMLVideoElement;
  readonly #onChange: () => void;
  /** Muted by the autoplay policy or the URL, not by the viewer. */
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

  get needsUnmute(): boolean {
    return this.#isMutedForAutoplay && this.#video.muted;
  }

  get volume(): number {
    return this.#video.muted ? 0 : this.#video.volume;
  }

  muteForAutoplay(): void {
    this.#isMutedForAutoplay = true;
    this.#video.muted = true;
    this.#onChange();
  }

  setVolume(volume: number): void {
    this.#isMutedForAutoplay = false;
    const wanted = Math.min(1, Math.max(0, volume));
    if (wanted > 0) this.#video.volume = wanted;
    this.#video.muted = wanted === 0;
    this.#save();
  }

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
      // A frame on another site may have no storage.
    }
  }

  #restore(): void {
    try {
      const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Record<string, unknown>;
      if (typeof stored.volume === 'number') this.#video.volume = Math.min(1, Math.max(0.05, stored.volume));
      this.#video.muted = stored.muted === true;
    } catch {
      // There is no storage, or the value is invalid.
    }
  }
}
