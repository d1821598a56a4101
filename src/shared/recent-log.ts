const maxLines = 1_000;
const maxLength = 512 * 1024;

/** Keeps the last lines of the log, for those whose output goes to a pipe that cannot be read again. */
export class RecentLog {
  readonly #lines: string[] = [];
  #length = 0;

  add(line: string): void {
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
