const storageKey = 'millrace.player';

/** What a viewer chose, as it is remembered between visits. */
export interface StoredSettings {
  /** Speed of playing. */
  readonly rate: number;
  /** Whether captions are shown; undefined while the viewer never chose. */
  readonly hasCaptions: boolean | undefined;
  /** Language of the captions that were shown last. */
  readonly captionLanguage: string | undefined;
}

/** The viewer's choices for all videos of this server. The sound is remembered by itself. */
export class PlayerSettings {
  #settings: StoredSettings = restore();

  get current(): StoredSettings {
    return this.#settings;
  }

  /** Remembers what is given, beside what was there. */
  save(change: Partial<StoredSettings>): void {
    this.#settings = { ...this.#settings, ...change };
    try {
      localStorage.setItem(storageKey, JSON.stringify(this.#settings));
    } catch {
      // A frame on another site may have no storage; then the choices last as long as the page.
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
    // No storage, or something else wrote there.
    return { rate: 1, hasCaptions: undefined, captionLanguage: undefined };
  }
}
