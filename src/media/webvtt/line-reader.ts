import { parseCueTimes } from './cue-times.ts';

export interface CueLine {
  /** `other` lines belong to the header, comments, styles and regions. `end` is the end of a block. */
  readonly kind: 'identifier' | 'times' | 'text' | 'other' | 'end';
  readonly line: string;
}

const signature = /^\ufeff?WEBVTT/;
const end: CueLine = { kind: 'end', line: '' };

/**
 * Tells what the lines of WebVTT are. Times also begin a block when they are not in the first two lines of one, or
 * follow other times. **Source**: WebVTT, W3C, 6.1 (collect a WebVTT block).
 */
export class LineReader {
  #part: 'outside' | 'cue' | 'other' = 'outside';
  /** The first line of a block, which may be an identifier. */
  #held: string | undefined;

  /** @param line without its end. Returns no more than three. */
  read(line: string): CueLine[] {
    if (line === '') return this.end();
    const isTimes = line.includes('-->') && (this.#part !== 'cue' || parseCueTimes(line) !== undefined);
    if (!isTimes) {
      if (this.#part === 'cue') return [{ kind: 'text', line }];
      if (this.#part === 'outside' && this.#held === undefined) {
        this.#held = line;
        return [];
      }
      this.#part = 'other';
      return [...this.#release(), { kind: 'other', line }];
    }
    const held = this.#held;
    const hasIdentifier = held !== undefined && !signature.test(held);
    const before: CueLine[] = hasIdentifier ? [{ kind: 'identifier', line: held }] : this.end();
    this.#held = undefined;
    this.#part = 'cue';
    return [...before, { kind: 'times', line }];
  }

  end(): CueLine[] {
    const isOpen = this.#part !== 'outside' || this.#held !== undefined;
    const released = this.#release();
    this.#part = 'outside';
    return isOpen ? [...released, end] : [];
  }

  #release(): CueLine[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [{ kind: 'other', line: held }];
  }
}

export function* linesOf(file: string): Generator<string> {
  const lineEnd = /\r\n?|\n|$/g;
  for (let start = 0; start < file.length; start = lineEnd.lastIndex) {
    lineEnd.lastIndex = start;
    yield file.slice(start, lineEnd.exec(file)?.index);
  }
}

export function* readLines(file: string): Generator<CueLine> {
  const reader = new LineReader();
  for (const line of linesOf(file)) yield* reader.read(line);
  yield* reader.end();
}
