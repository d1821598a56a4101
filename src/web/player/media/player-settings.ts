const storageKey = 'millrace.player';

/** An audio rendition, as hls.js names it. */
export interface AudioChoice {
  readonly language: string;
  readonly name: string;
  /** CHANNELS; undefined for stereo. */
  readonly channels?: string | undefined;
}

interface StoredSettings {
  readonly rate: number;
  readonly hasCaptions: boolean | undefined;
  readonly captionLanguage: string | undefined;
  readonly audio: AudioChoice | undefined;
  readonly ultraLowLatency: boolean;
}

/** Shared by all videos and live streams of this server. */
export class PlayerSettings {
  #settings: StoredSettings = restore();

  get current(): StoredSettings {
    return this.#settings;
  }

  save(change: Partial<StoredSettings>): void {
    this.#settings = { ...this.#settings, ...change };
    try {
      localStorage.setItem(storageKey, JSON.stringify(this.#settings));
    } catch {
      // A frame on another site may have no storage.
    }
  }
}

function restore(): StoredSettings {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Record<string, unknown>;
    const { rate, hasCaptions, captionLanguage, audio, ultraLowLatency } = stored;
    return {
      rate: typeof rate === 'number' && rate >= 0.25 && rate <= 2 ? rate : 1,
      hasCaptions: typeof hasCaptions === 'boolean' ? hasCaptions : undefined,
      captionLanguage: typeof captionLanguage === 'string' ? captionLanguage : undefined,
      audio: audioChoice(audio),
      ultraLowLatency: ultraLowLatency === true,
    };
  } catch {
    // There is no storage, or the value is invalid.
    return {
      rate: 1,
      hasCaptions: undefined,
      captionLanguage: undefined,
      audio: undefined,
      ultraLowLatency: false,
    };
  }
}

function audioChoice(value: unknown): AudioChoice | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { language, name, channels } = value as Record<string, unknown>;
  if (typeof language !== 'string' || typeof name !== 'string') return undefined;
  return { language, name, ...(typeof channels === 'string' ? { channels } : {}) };
}
