import type { Writable } from 'node:stream';

const terminalEveryMs = 200;
const logEveryMs = 30_000;

/** One updated line on a terminal, a line every 30 s elsewhere. */
export class Progress {
  readonly #out: Writable & { readonly isTTY?: boolean };
  readonly #nowMs: () => number;
  #title = '';
  #textOf = sizeText;
  #total = 0;
  #done = 0;
  #shownAtMs = 0;

  constructor(out: Writable & { readonly isTTY?: boolean }, nowMs: () => number = () => performance.now()) {
    this.#out = out;
    this.#nowMs = nowMs;
  }

  begin(title: string, total: number, textOf: (amount: number) => string = sizeText): void {
    this.#title = title;
    this.#textOf = textOf;
    this.#total = total;
    this.#done = 0;
    this.#shownAtMs = this.#nowMs();
  }

  add(amount: number): void {
    this.#done += amount;
    const nowMs = this.#nowMs();
    if (nowMs - this.#shownAtMs < (this.#out.isTTY === true ? terminalEveryMs : logEveryMs)) return;
    this.#shownAtMs = nowMs;
    const percent = this.#total === 0 ? 0 : Math.min(99, Math.floor((100 * this.#done) / this.#total));
    const line = `${this.#title}: ${this.#textOf(this.#done)} of ${this.#textOf(this.#total)}, ${percent} %`;
    this.#out.write(this.#out.isTTY === true ? `\r\u001b[K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.#out.isTTY === true) this.#out.write('\r\u001b[K');
  }
}

export function sizeText(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
