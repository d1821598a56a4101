import type { Mending } from './cue-reader.ts';
import { cueText } from './cue-text.ts';
import { cueTime, cueTimeMs, formatCueTimes } from './cue-times.ts';
import { maxCues } from './cues.ts';
import { bracketedTime, plainTimes } from './lenient-times.ts';

interface OtherCue {
  readonly startMs: number;
  /** Undefined for a cue that is shown until the next one. */
  readonly endMs?: number;
  readonly lines: string[];
}

type Format = (line: string, plain: string) => OtherCue[] | undefined;

const maxChars = 2_097_152;
/** Added to the characters of each line. */
const lineCost = 20;
/** Times of a line that is sung more than once. */
const maxStamps = 10;
/** Duration of the last cue, where no end is known. */
const lastCueMs = 10_000;
const between = '\\s*(?:[,;/~〜\\t–—]|-{1,2}|to\\s|\\s)\\s*';
const pair = new RegExp(`^\\s*${bracketedTime}${between}${bracketedTime}(?![\\d:]|[.,]\\d)[,;\\s]*`);
const stamp = `[[(]\\s*${cueTime}\\s*[\\])]`;
const stamps = new RegExp(`^\\s*(?:${stamp}\\s*){1,${maxStamps}}`);
const eachStamp = new RegExp(stamp, 'g');
const bareStart = new RegExp(`^\\s*(?:[-*•]\\s*)?${cueTime}(?:\\s*[-–—=|]\\s*|\\s*:\\s*(?!\\d)|\\s+|$)`);
const lyricsTag = /^\s*\[[a-z#]{1,20}:.*\]\s*$/i;
const wordTimes = /<\d{1,4}:\d{1,2}(?:[.:]\d{1,3})?>/g;
const dialogue = /^\s*Dialogue:[^,]*,([^,]*),([^,]*),(?:[^,]*,){6}(.*)$/i;
const onlyTime = new RegExp(`^\\s*${cueTime}\\s*$`);
const tenths = /^\s*\[(\d{1,8})\]\s*\[(\d{1,8})\](.*)$/;
const cueNumber = /^\s*\d{1,10}\s*$/;

/**
 * Reads captions without arrows: SubViewer and YouTube's `.sbv`, tables, SubStation Alpha, MPL2, lyrics (`.lrc`), VPlayer and
 * lists of chapters such as `1:05 Intro`. The first cue decides which.
 */
export class OtherCueReader {
  readonly mendings = new Map<Mending, number>();
  readonly #cues: OtherCue[] = [];
  #format: Format | undefined;
  #line = 0;
  #chars = 0;
  /** Subtracted from all times. */
  #offsetMs = 0;
  /** The line above, when it may be the number of the next cue. */
  #numberedLine = 0;

  read(line: string): void {
    this.#line += 1;
    const offset = /^\s*\[offset:\s*([+-]?\d{1,6})\s*\]/i.exec(line);
    if (offset !== null) this.#offsetMs = Number(offset[1]);
    if (this.#cues.length >= maxCues || this.#chars > maxChars) {
      this.#mend('too-many');
      return;
    }
    const plain = plainTimes(line);
    this.#format ??= formats.find(format => format(line, plain) !== undefined);
    const found = this.#format?.(line, plain);
    if (found === undefined) this.#addText(line);
    else this.#addCues(found);
  }

  #addCues(found: readonly OtherCue[]): void {
    if (this.#cues.length === 0) {
      this.#mend('header', 1);
      this.#mend('times');
      if (this.#format === readDialogue) this.mendings.delete('outside');
    }
    if (this.#numberedLine === this.#line - 1) this.#cues.at(-1)?.lines.pop();
    for (const cue of found) {
      if (cue.endMs === undefined) this.#mend('no-end');
      else if (cue.endMs <= cue.startMs) this.#mend('never-shown');
      this.#cues.push(cue);
      for (const one of cue.lines) this.#chars += one.length + lineCost;
    }
  }

  /** The cues as WebVTT without its header, sorted, and how many. */
  end(): { readonly text: string; readonly cues: number } {
    const sorted = this.#cues.toSorted((one, other) => one.startMs - other.startMs);
    const blocks: string[] = [];
    let nextMs = (sorted.at(-1)?.startMs ?? 0) + lastCueMs;
    let heldMs = nextMs;
    for (const { startMs, endMs, lines } of sorted.toReversed()) {
      if (startMs < heldMs) [nextMs, heldMs] = [heldMs, startMs];
      const untilMs = endMs ?? nextMs;
      if (lines.length === 0 || untilMs <= startMs) continue;
      const times = formatCueTimes(startMs - this.#offsetMs, untilMs - this.#offsetMs);
      blocks.push(`\n${times}\n${lines.join('\n')}\n`);
    }
    return { text: blocks.toReversed().join(''), cues: blocks.length };
  }

  /** Adds a line below the times of a cue, also after empty lines. */
  #addText(line: string): void {
    const last = this.#cues.at(-1);
    if (line.trim() === '' || lyricsTag.test(line) || this.#format === readDialogue) return;
    if (cueNumber.test(line)) this.#numberedLine = this.#line;
    if (last === undefined) {
      if (!cueNumber.test(line)) this.#mend('outside');
      return;
    }
    last.lines.push(...textOf(line));
    this.#chars += line.length + lineCost;
  }

  #mend(kind: Mending, line = this.#line): void {
    if (!this.mendings.has(kind)) this.mendings.set(kind, line);
  }
}

function readPair(line: string, plain: string): OtherCue[] | undefined {
  const found = pair.exec(plain);
  if (found === null) return undefined;
  const text = line.slice(found[0].length).replace(/^"(.*)"\s*$/, '$1');
  return [
    { startMs: cueTimeMs(found.slice(1, 5)), endMs: cueTimeMs(found.slice(5, 9)), lines: textOf(text) },
  ];
}

function readStamps(line: string, plain: string): OtherCue[] | undefined {
  const found = stamps.exec(plain);
  if (found === null) return undefined;
  const text = line.slice(found[0].length);
  return [...found[0].matchAll(eachStamp)].map(time => ({
    startMs: cueTimeMs(time.slice(1, 5)),
    lines: textOf(text),
  }));
}

function readBareStart(line: string, plain: string): OtherCue[] | undefined {
  const found = bareStart.exec(plain);
  if (found === null || plain.includes('->')) return undefined;
  return [{ startMs: cueTimeMs(found.slice(1, 5)), lines: textOf(line.slice(found[0].length)) }];
}

function readDialogue(line: string): OtherCue[] | undefined {
  const [, from = '', until = '', text = ''] = dialogue.exec(line) ?? [];
  const [start, end] = [onlyTime.exec(from), onlyTime.exec(until)];
  if (start === null || end === null) return undefined;
  const lines = textOf(text.replaceAll('\\h', ' '));
  return [{ startMs: cueTimeMs(start.slice(1, 5)), endMs: cueTimeMs(end.slice(1, 5)), lines }];
}

function readTenths(line: string): OtherCue[] | undefined {
  const found = tenths.exec(line);
  if (found === null) return undefined;
  const [, start, end, text = ''] = found;
  const lines = textOf(text).map(one => (one.startsWith('/') ? `<i>${one.slice(1)}</i>` : one));
  return [{ startMs: 100 * Number(start), endMs: 100 * Number(end), lines }];
}

/** Cue text of a line, without empty lines. */
function textOf(text: string): string[] {
  const lines = text.replace(wordTimes, '').split(/\[br\]|\||\\n/i);
  return lines.map(line => cueText(line.trim())).filter(line => line !== '');
}

const formats: readonly Format[] = [readDialogue, readTenths, readPair, readStamps, readBareStart];
