import { reduceLogLine } from './reduce-log-line.ts';

const maxLines = 1_000;
const maxLength = 512 * 1024;
/** A longer line would take the place of many others: its texts are left out. */
const maxLineLength = 16 * 1024;

/** Keeps the last lines of the log, for those whose output goes to a pipe that cannot be read again. */
export class RecentLog {
  readonly #lines: string[] = [];
  #length = 0;

  add(text: string): void {
    const line = text.length > maxLineLength ? JSON.stringify(reduceLogLine(text)) : text;
    if (line === undefined) return;
    this.#lines.push(line);
    this.#length += line.length;
    while (this.#lines.length > maxLines || this.#length > maxLength) {
      this.#length -= this.#lines.shift()!.length;
    }
  }

  /** The oldest first. */
  lines(): readonly string[] {
    return this.#lines;
  }
}
