import { cueText } from './cue-text.ts';
import { cueTimeMs, formatCueTime, formatCueTimes, parseCueTimes } from './cue-times.ts';
import { type CueLine, LineReader } from './line-reader.ts';

interface CueRange {
  /** Subtracted from all times. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** Reads lines without their ends and returns text with them. */
export interface CueCutter {
  /** True when a cue was in the range. */
  readonly hasCues: boolean;
  read(line: string): string;
  end(): string;
}

const maxLineChars = 10_000;
/** WebVTT, W3C, 4.2.2: when the rest of a line of karaoke begins. */
const innerTime = /<(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})>/g;

/**
 * Cuts a WebVTT file. Cues that reach over an edge end there. Keeps styles, regions, comments, identifiers and settings.
 */
export class WebVttCutter implements CueCutter {
  hasCues = false;
  readonly #range: CueRange;
  readonly #lines = new LineReader();
  #identifier = '';
  #cue: ReturnType<typeof cutCueTimes>;
  #isLeftOut = false;

  constructor(range: CueRange) {
    this.#range = range;
  }

  read(line: string): string {
    return this.#write(this.#lines.read(line));
  }

  end(): string {
    return this.#write(this.#lines.end());
  }

  #write(lines: readonly CueLine[]): string {
    let output = '';
    for (const { kind, line } of lines) {
      if (kind === 'identifier') this.#identifier = `${line}\n`;
      else if (kind === 'times') output += this.#beginCue(line);
      else if (kind === 'end') {
        output += this.#isLeftOut ? '' : '\n';
        this.#cue = undefined;
        this.#isLeftOut = false;
      } else if (!this.#isLeftOut) output += `${this.#moveInnerTimes(line)}\n`;
    }
    return output;
  }

  #beginCue(line: string): string {
    const identifier = this.#identifier;
    this.#identifier = '';
    this.#cue = cutCueTimes(line, this.#range);
    this.#isLeftOut = this.#cue === undefined;
    if (this.#cue === undefined) return '';
    this.hasCues = true;
    const { beginMs, endMs, settings } = this.#cue;
    return `${identifier}${formatCueTimes(beginMs, endMs)}${settings}\n`;
  }

  #moveInnerTimes(line: string): string {
    if (this.#cue === undefined) return line;
    const { beginMs, endMs } = this.#cue;
    return line.replace(innerTime, (_, ...found: string[]) => {
      const ms = cueTimeMs(found.slice(0, 4)) - this.#range.startMs;
      return `<${formatCueTime(Math.min(endMs, Math.max(beginMs, ms)))}>`;
    });
  }
}

/**
 * Moves the cues of a WebVTT file that ffmpeg wrote, and leaves out those outside of the range. Styles of lines are dropped,
 * and empty lines inside of cues too.
 */
export class ConvertedCueCutter implements CueCutter {
  hasCues = false;
  readonly #range: CueRange;
  /** Written with the first line of text. */
  #times = '';
  #isLeftOut = true;

  constructor(range: CueRange) {
    this.#range = range;
  }

  read(line: string): string {
    if (parseCueTimes(line) !== undefined) {
      const cue = cutCueTimes(line, this.#range);
      this.#isLeftOut = cue === undefined;
      this.#times = cue === undefined ? '' : `\n${formatCueTimes(cue.beginMs, cue.endMs)}\n`;
      return '';
    }
    const text = line.trim();
    if (text === '' || this.#isLeftOut) return '';
    const header = this.hasCues ? '' : 'WEBVTT\n';
    const times = this.#times;
    this.hasCues = true;
    this.#times = '';
    return `${header}${times}${cueText(text.slice(0, maxLineChars))}\n`;
  }

  end(): string {
    return '';
  }
}

/** @param line with the times of a cue. Undefined when nothing of the cue is in the range, and for other lines. */
function cutCueTimes(line: string, { startMs, durationMs }: CueRange) {
  const found = parseCueTimes(line);
  if (found === undefined) return undefined;
  const beginMs = Math.max(0, found.startMs - startMs);
  const endMs = Math.min(durationMs, found.endMs - startMs);
  return endMs <= beginMs ? undefined : { beginMs, endMs, settings: found.settings };
}
