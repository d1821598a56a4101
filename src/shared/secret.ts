import { inspect } from 'node:util';

/** A text that prints as `[secret]`, so that it reaches no log or error message by accident. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text. Call it only where the text is used. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Shortens a stream key for logs to its first characters: at most four, and at most a quarter of it. */
export function maskStreamKey(streamKey: string): string {
  return `${streamKey.slice(0, Math.min(4, Math.floor(streamKey.length / 4)))}…`;
}
