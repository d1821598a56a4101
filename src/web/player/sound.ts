const storageKey = 'millrace.sound';

/** The sound of a video: remembered between visits, and mute where the browser lets nothing play with sound. */
export class Sound {
  readonly #video: HTMLVideoElement;
  readonly #onChange: () => void;
  /** Muted by the browser's rules or the page's address, not by the viewer. */
  #isMutedForViewer = false;

  constructor(video: HTMLVideoElement, options: { readonly muted: boolean }, onChange: () => void) {
    this.#video = video;
    this.#onChange = onChange;
    this.#restore();
    if (options.muted && !video.muted) {
      this.#isMutedForViewer = true;
      video.muted = true;
    }
    video.addEventListener('volumechange', () => onChange());
  }

  /** Whether the viewer should be offered to turn the sound on. */
  get needsUnmute(): boolean {
    return this.#isMutedForViewer && this.#video.muted;
  }

  /** 0 to 1. */
  get volume(): number {
    return this.#video.muted ? 0 : this.#video.volume;
  }

  /** Mutes because nothing else is allowed; the viewer's own choice is kept. */
  muteForViewer(): void {
    this.#isMutedForViewer = true;
    this.#video.muted = true;
    this.#onChange();
  }

  /** The viewer sets the volume, 0 to 1. */
  setVolume(volume: number): void {
    this.#isMutedForViewer = false;
    const wanted = Math.min(1, Math.max(0, volume));
    if (wanted > 0) this.#video.volume = wanted;
    this.#video.muted = wanted === 0;
    this.#remember();
  }

  /** The viewer turns the sound off or on. */
  toggle(): void {
    this.#isMutedForViewer = false;
    this.#video.muted = !this.#video.muted;
    this.#remember();
  }

  #remember(): void {
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
