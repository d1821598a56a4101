const storageKey = 'millrace.sound';
/** Longest time between an unmute and the pause that it causes. */
const maxPauseDelayMs = 1_000;
const maxRemutes = 5;

/** Stored between visits, and muted where the browser forbids autoplay with audio. */
export class AudioControl {
  readonly #video: HTMLVideoElement;
  readonly #onChange: () => void;
  /** Muted by the autoplay policy or the URL, not by the viewer. */
  #isMutedForAutoplay = false;
  #remutes = 0;
  #remutedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    video: HTMLVideoElement,
    { muted, signal }: { readonly muted: boolean; readonly signal?: AbortSignal },
    onChange: () => void,
  ) {
    this.#video = video;
    this.#onChange = onChange;
    this.#restore();
    if (muted && !video.muted) {
      this.#isMutedForAutoplay = true;
      video.muted = true;
    }
    const onVolumeChange = () => {
      this.#keepMuted();
      onChange();
    };
    video.addEventListener('volumechange', onVolumeChange, { signal });
  }

  /** The browser has unmuted the video by itself a moment ago, which pauses it where autoplay must be muted. */
  get wasUnmutedByBrowser(): boolean {
    return performance.now() - this.#remutedAtMs < maxPauseDelayMs;
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

  /**
   * WebKitGTK takes over the state of the audio output when that opens, also where there is no loudspeaker. Viewers unmute with
   * these controls, or with those of the browser after they have used the page.
   */
  #keepMuted(): void {
    if (!this.#isMutedForAutoplay || this.#video.muted) return;
    if (navigator.userActivation?.hasBeenActive !== false || this.#remutes >= maxRemutes) return;
    this.#remutes += 1;
    this.#remutedAtMs = performance.now();
    this.#video.muted = true;
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
