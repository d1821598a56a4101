import { cueText } from './cue-text.ts';
import { formatCueTimes } from './cue-times.ts';
import { type LenientTimes, parseLenientTimes } from './lenient-times.ts';

export type Mending =
  | 'header'
  | 'outside'
  | 'times'
  | 'text-behind'
  | 'no-end'
  | 'too-many'
  | 'unreadable'
  | 'never-shown'
  | 'empty-line'
  | 'no-empty-line'
  | 'number'
  | 'long-line'
  | 'control';

export const maxLineChars = 10_000;

const signature = /^\s*WEBVTT(?=[\s:]|$)/i;
const cueNumber = /^\s*\d{1,10}\s*$/;
const timeStart = /^\s*\d{1,6} ?:/;
const cutTimes = /^\s*\d{1,6} ?:[\s\d:.,>-]*$/;
const webVttBlock = /^(?:NOTE(?:\s.*)?|STYLE\s*|REGION\s*)$/;
const setting = /^(?:vertical|line|position|size|align|region):\S+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]|\ufeff/g;

/**
 * Reads WebVTT, SubRip and what is like them, line by line, as players do, and returns valid WebVTT.
 * A file with the header `WEBVTT` keeps everything that players ignore, unchanged. Text of other files belongs to the cue
 * above it, also after empty lines, as in FFmpeg's `libavformat/srtdec.c`.
 * **Source**: WebVTT, W3C, 4.1 (file structure) and 6.1 (parser).
 */
export class CueReader {
  cues = 0;
  isWebVtt = false;
  /** The line where each was necessary first, from 1. */
  readonly mendings = new Map<Mending, number>();
  #line = 0;
  /** Written as soon as something follows it. */
  #header = 'WEBVTT\n';
  #part: 'outside' | 'cue' | 'hidden cue' | 'block' = 'outside';
  /** Lines of the block so far, which an empty line ends. */
  #blockLines = 0;
  /** May be the number or identifier of the next cue. */
  #held: { readonly text: string; readonly line: number; readonly isFirst: boolean } | undefined;
  /** Lines above a cue are its identifier in WebVTT, and text of the cue before in SubRip. */
  #hasIdentifiers = false;

  /** @param encoded without its line feed */
  read(encoded: string): string {
    this.#line += 1;
    let line = encoded;
    if (line.length > maxLineChars) {
      line = line.slice(0, maxLineChars);
      this.#mend('long-line');
    }
    const clean = line.replace(controls, '');
    // A byte order mark is no part of the text.
    if (clean !== line.replace(/^\ufeff/, '')) this.#mend('control');
    const output = this.isWebVtt ? this.#readWebVtt(clean) : this.#readOther(clean);
    this.#blockLines = clean.trim() === '' ? 0 : this.#blockLines + 1;
    return output;
  }

  /** Undefined for a file without a cue and without a header. */
  end(): string | undefined {
    if (this.isWebVtt) return this.#releaseHeld();
    if (this.cues === 0) return undefined;
    if (this.#held?.isFirst === true && cueNumber.test(this.#held.text)) {
      this.#mend('number', this.#held.line);
      return '';
    }
    return this.#releaseHeld();
  }

  #readWebVtt(line: string): string {
    const times = this.#parseTimes(line);
    if (times === undefined) {
      if (line.includes('-->')) this.#mend('unreadable');
      const released = this.#releaseHeld();
      const mayBeNumber = this.#part === 'cue' && this.#blockLines > 0 && cueNumber.test(line);
      if (line.trim() === '') this.#part = 'outside';
      if (!mayBeNumber) return `${released}${line}\n`;
      this.#hold(line);
      return released;
    }
    const isSeparate = this.#blockLines === 0 || (this.#blockLines === 1 && this.#part !== 'cue');
    if (!isSeparate) this.#mend('no-empty-line');
    const released = this.#releaseHeld();
    this.#part = 'cue';
    if (times.text !== '') this.#mend('text-behind');
    else if (!times.isWebVtt) this.#mend('times');
    if (times.endMs <= times.startMs) this.#mend('never-shown');
    else this.cues += 1;
    const written = times.isWebVtt ? line : formatCueTimes(times.startMs, times.endMs) + times.settings;
    const text = times.text === '' ? '' : `${times.text.replaceAll('-->', '--&gt;')}\n`;
    return `${isSeparate ? '' : '\n'}${released}${written}\n${text}`;
  }

  #readOther(line: string): string {
    if (this.cues === 0 && this.#part !== 'block' && signature.test(line)) return this.#beginWebVtt(line);
    if (line.trim() === '') {
      if (this.#part === 'block') this.#part = 'outside';
      return '';
    }
    if (this.#part === 'block') return `${line}\n`;
    const times = this.#parseTimes(line);
    if (times !== undefined) return this.#beginCue(line, times);
    const isFirst = this.#blockLines === 0;
    if (isFirst && webVttBlock.test(line)) {
      const released = this.#releaseHeld();
      this.#part = 'block';
      return `${released}${this.takeHeader()}\n${line}\n`;
    }
    const isNumbered = this.#held !== undefined && cueNumber.test(this.#held.text);
    if ((timeStart.test(line) && line.includes('-->')) || (isNumbered && cutTimes.test(line))) {
      this.#mend('unreadable');
      this.#held = undefined;
      this.#part = 'hidden cue';
      return '';
    }
    const released = this.#releaseHeld();
    this.#hold(line);
    const mayPrecedeCue = cueNumber.test(line) || (isFirst && (this.#hasIdentifiers || this.cues === 0));
    return mayPrecedeCue ? released : released + this.#releaseHeld();
  }

  #beginWebVtt(line: string): string {
    this.isWebVtt = true;
    if (this.#line > 1 || !line.startsWith('WEBVTT') || line.startsWith('WEBVTT:')) this.#mend('header');
    const header = line.replace(signature, 'WEBVTT').replace(/^WEBVTT:/, 'WEBVTT ');
    this.#held = undefined;
    this.#header = '';
    this.#blockLines = 0;
    return `${header}\n`;
  }

  #beginCue(line: string, { startMs, endMs, settings, text, isOdd }: LenientTimes): string {
    const isSubRip = /\d,\d/.test(line);
    if (text !== '') this.#mend('text-behind');
    else if (isOdd) this.#mend('times');
    if (this.#header !== '') {
      this.#hasIdentifiers = !isSubRip;
      if (!isSubRip) this.#mend('header', 1);
    }
    const held = this.#held;
    const isSeparate = this.#blockLines === 0 || (this.#blockLines === 1 && held !== undefined);
    if (!isSeparate && this.#part !== 'outside') this.#mend('no-empty-line');
    const isNumber = held !== undefined && cueNumber.test(held.text);
    const isIdentifier = !isNumber && held?.line === this.#line - 1 && this.#hasIdentifiers;
    const identifier = isIdentifier ? `${held.text}\n` : '';
    const released = isNumber || isIdentifier ? '' : this.#releaseHeld();
    this.#held = undefined;
    if (endMs <= startMs) {
      this.#mend('never-shown');
      this.#part = 'hidden cue';
      return released;
    }
    this.cues += 1;
    this.#part = 'cue';
    const kept = settings.split(/\s+/).filter(one => setting.test(one));
    const times = [formatCueTimes(startMs, endMs), ...kept].join(' ');
    const behind = text === '' ? '' : `${cueText(text)}\n`;
    return `${released}${this.takeHeader()}\n${identifier}${times}\n${behind}`;
  }

  #parseTimes(line: string): LenientTimes | undefined {
    const times = parseLenientTimes(line);
    const isBelowNumber = this.#held !== undefined && cueNumber.test(this.#held.text);
    return times?.mayBeText === true && this.#blockLines > 0 && !isBelowNumber ? undefined : times;
  }

  /** The header, unless it was returned before. */
  takeHeader(): string {
    const header = this.#header;
    this.#header = '';
    return header;
  }

  #hold(text: string): void {
    this.#held = { text, line: this.#line, isFirst: this.#blockLines === 0 };
  }

  /** Writes the held line, which belongs to no other cue. */
  #releaseHeld(): string {
    const held = this.#held;
    if (held === undefined) return '';
    this.#held = undefined;
    if (this.isWebVtt) return `${held.text}\n`;
    if (this.#part === 'outside') this.#mend('outside', held.line);
    if (this.#part !== 'cue') return '';
    if (held.isFirst) this.#mend('empty-line', held.line);
    return `${cueText(held.text.trim())}\n`;
  }

  #mend(kind: Mending, line = this.#line): void {
    if (!this.mendings.has(kind)) this.mendings.set(kind, line);
  }
}
