import { inspect } from 'node:util';

/** A text that must not reach a log or an error message by accident: every way of printing it gives `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself; call only where it is used. */
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

/** A stream key as it may be logged: its first characters, at most four and a quarter of it, so that an operator can tell keys apart. */
export function maskStreamKey(streamKey: string): string {
  return `${streamKey.slice(0, Math.min(4, Math.floor(streamKey.length / 4)))}…`;
}
