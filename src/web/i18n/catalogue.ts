/** ICU messages by key. The build compiles them. */
export type Catalogue = Readonly<Record<string, string>>;

/** The messages of another language. */
export type TranslationOf<English extends Catalogue> = Readonly<Record<keyof English, string>>;
