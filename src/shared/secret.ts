import { inspect } from 'node:util';

/** Prints as `[secret]`, so that the text reaches no log or error message by accident. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Call it only where the text is used. */
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

/** Keeps at most four characters, and at most a quarter. */
export function maskStreamKey(streamKey: string): string {
  return `${streamKey.slice(0, Math.min(4, Math.floor(streamKey.length / 4)))}…`;
}
