import { CueReader, type Mending, maxLineChars } from './cue-reader.ts';
import { OtherCueReader } from './other-cue-reader.ts';
import { TextFileDecoder } from './text-file-decoder.ts';

const sentences: Readonly<Record<Mending, string>> = {
  header: 'The first line was not WEBVTT: it was added.',
  outside: 'Text outside cues was removed.',
  times: 'Times were rewritten as 00:00:01.000 --> 00:00:04.000.',
  'text-behind': 'Text on the line of the times was moved below it.',
  'no-end': 'A cue without an end is shown until the next one.',
  'too-many': 'The file is too long. What follows was removed.',
  unreadable: 'A cue whose times cannot be read is not shown.',
  'never-shown': 'A cue that does not end after it begins is not shown.',
  'empty-line': 'An empty line inside a cue was removed.',
  'no-empty-line': 'The empty line between two cues was missing: it was added.',
  number: 'A cue number without a cue was removed.',
  'long-line': `Text after the first ${maxLineChars} characters of a line was removed.`,
  control: 'Control characters were removed.',
};
/** Players skip these cues of WebVTT themselves. */
const unchanging: ReadonlySet<Mending> = new Set(['unreadable', 'never-shown']);

/** Reads a file of captions or chapters in any encoding and returns WebVTT. A piece of 4 KiB takes at most 5 ms. */
export class TextTrackReader {
  readonly #decoder: TextFileDecoder;
  readonly #cues = new CueReader();
  /** Reads the same lines until one of them is a cue with an arrow. */
  #others: OtherCueReader | undefined = new OtherCueReader();
  #otherCues = 0;
  #rest = '';

  /**
   * @param head the first bytes, or all
   * @param language of the text, a tag in its canonical case
   */
  constructor(head: Uint8Array, language: string) {
    this.#decoder = new TextFileDecoder(head, language);
  }

  read(chunk: Uint8Array): string {
    return this.#readText(this.#decoder.decode(chunk));
  }

  /** Undefined when the file has neither a cue nor the header `WEBVTT`. */
  end(): string | undefined {
    const output = this.#readText(this.#decoder.end());
    const rest = this.#rest.replace(/\r$/, '');
    const last = rest === '' ? '' : this.#readLine(rest);
    const end = this.#cues.end() ?? this.#endOthers();
    return end === undefined ? undefined : output + last + end;
  }

  get cues(): number {
    return this.#cues.cues + this.#otherCues;
  }

  get isWebVtt(): boolean {
    return this.#cues.isWebVtt;
  }

  /** False when the file is WebVTT in UTF-8 already. */
  get isChanged(): boolean {
    const isMended = [...this.#mendings.keys()].some(kind => !unchanging.has(kind));
    return !this.isWebVtt || isMended || this.#decoder.encoding !== undefined;
  }

  /** Sentences about what was mended, and what is not shown. */
  get warnings(): string[] {
    const { encoding } = this.#decoder;
    const lines = [...this.#mendings].toSorted(([, one], [, other]) => one - other);
    return [
      ...(encoding === undefined ? [] : [`The text was converted from ${encoding.toUpperCase()} to UTF-8.`]),
      ...lines.map(([kind, line]) => `Line ${line}: ${sentences[kind]}`),
      ...(this.cues === 0 ? ['The file has no cues, so players show nothing.'] : []),
    ];
  }

  get #mendings(): ReadonlyMap<Mending, number> {
    return this.#otherCues > 0 && this.#others !== undefined ? this.#others.mendings : this.#cues.mendings;
  }

  #endOthers(): string | undefined {
    const { text, cues } = this.#others?.end() ?? { text: '', cues: 0 };
    this.#otherCues = cues;
    return cues === 0 ? undefined : this.#cues.takeHeader() + text;
  }

  #readLine(line: string): string {
    const output = this.#cues.read(line);
    if (this.#cues.cues > 0 || this.isWebVtt) this.#others = undefined;
    this.#others?.read(output === '' ? line : '');
    return output;
  }

  #readText(decoded: string): string {
    const text = this.#rest + decoded;
    // The line feed of a carriage return may be in the next chunk.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\r|\n/);
    this.#rest = lines.pop()!.slice(0, maxLineChars + 1) + held;
    return lines.map(line => this.#readLine(line)).join('');
  }
}
