const storageKey = 'millrace.player';

interface StoredSettings {
  readonly rate: number;
  readonly hasCaptions: boolean | undefined;
  readonly captionLanguage: string | undefined;
}

/** Shared by all videos of this server. */
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
    const { rate, hasCaptions, captionLanguage } = stored;
    return {
      rate: typeof rate === 'number' && rate >= 0.25 && rate <= 2 ? rate : 1,
      hasCaptions: typeof hasCaptions === 'boolean' ? hasCaptions : undefined,
      captionLanguage: typeof captionLanguage === 'string' ? captionLanguage : undefined,
    };
  } catch {
    // There is no storage, or the value is invalid.
    return { rate: 1, hasCaptions: undefined, captionLanguage: undefined };
  }
}
