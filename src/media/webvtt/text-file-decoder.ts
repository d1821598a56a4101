import { decodeValid, detectEncoding, fallbackEncoding } from './legacy-encoding.ts';

/** A type of browsers and of Node.js. */
type Decoder = InstanceType<typeof TextDecoder>;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Length above which lines are decoded in pieces. */
const maxLineBytes = 64 * 1_024;
/** Bytes that tell the encoding, of lines that are not UTF-8. */
const maxSampleBytes = 1_024;
/** Few characters of another encoding can be those of UTF-8 by chance. */
const minUtf8Characters = 3;

/** Decodes UTF-8, UTF-16 with or without a byte order mark, and else the encoding in which the text reads best, line by line. */
export class TextFileDecoder {
  /** Undefined while everything was UTF-8. */
  encoding: string | undefined;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });
  readonly #utf16: Decoder | undefined;
  readonly #language: string;
  /** Undefined before the first line that is not UTF-8. */
  #legacy: Decoder | undefined;
  #hasUtf8 = false;
  #rest = new Uint8Array();

  /**
   * @param head the first bytes, or all
   * @param language a tag in its canonical case
   */
  constructor(head: Uint8Array, language = '') {
    this.encoding = utf16EncodingOf(head);
    if (this.encoding !== undefined) this.#utf16 = new TextDecoder(this.encoding);
    this.#language = language;
  }

  decode(chunk: Uint8Array): string {
    // Characters that the file lost are left out: half a character at its end, or half a surrogate pair.
    if (this.#utf16 !== undefined) return withoutLost(this.#utf16.decode(chunk, { stream: true }));
    const bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    const lastEnd = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
    const end = bytes.length - lastEnd > maxLineBytes ? bytes.length : lastEnd;
    this.#rest = bytes.slice(end);
    return this.#decodeLines(bytes.subarray(0, end));
  }

  end(): string {
    if (this.#utf16 !== undefined) return withoutLost(this.#utf16.decode());
    return this.#decodeLines(this.#rest);
  }

  #decodeLines(bytes: Uint8Array): string {
    const whole = decodeValid(this.#utf8, bytes);
    if (whole !== undefined && (this.#legacy === undefined || this.#hasUtf8)) return this.#noteUtf8(whole);
    const lines = [...linesOf(bytes)].map(line => ({ line, utf8: decodeValid(this.#utf8, line) }));
    for (const { utf8 = '' } of lines)
      if (charactersBeyondAscii(utf8) >= minUtf8Characters) this.#noteUtf8(utf8);
    const others = lines.filter(({ utf8 }) => utf8 === undefined).map(({ line }) => line);
    if (others.length > 0) this.#legacy ??= this.#detect(others);
    return lines.map(({ line, utf8 }) => this.#decodeLine(line, utf8)).join('');
  }

  #noteUtf8(text: string): string {
    this.#hasUtf8 ||= charactersBeyondAscii(text) > 0;
    return text;
  }

  #detect(lines: readonly Uint8Array[]): Decoder {
    const sample = new Uint8Array(maxSampleBytes);
    let length = 0;
    for (const line of lines) {
      // A line that does not fit would end with half a character.
      if (length > 0 && length + line.length > maxSampleBytes) continue;
      const part = line.subarray(0, maxSampleBytes);
      sample.set(part, length);
      length += part.length;
    }
    return new TextDecoder(detectEncoding(sample.subarray(0, length), this.#language), { fatal: true });
  }

  #decodeLine(bytes: Uint8Array, utf8: string | undefined): string {
    const isUtf8 = utf8 !== undefined && (this.#hasUtf8 || charactersBeyondAscii(utf8) === 0);
    if (isUtf8 || this.#legacy === undefined) return utf8 ?? '';
    const legacy = decodeValid(this.#legacy, bytes);
    this.encoding = legacy === undefined ? fallbackEncoding : this.#legacy.encoding;
    return legacy ?? utf8 ?? new TextDecoder(fallbackEncoding).decode(bytes);
  }
}

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, begin) + 1 || bytes.length;
    yield bytes.subarray(begin, end);
    begin = end;
  }
}

function charactersBeyondAscii(text: string): number {
  return text.match(/[^\0-\x7f]/gu)?.length ?? 0;
}

/** Half of the bytes of digits, spaces and arrows are zero in UTF-16, and none in other encodings. */
function utf16EncodingOf(head: Uint8Array): string | undefined {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  let evenZeros = 0;
  let oddZeros = 0;
  for (const [index, byte] of head.entries()) {
    if (byte !== 0) continue;
    if (index % 2 === 0) evenZeros += 1;
    else oddZeros += 1;
  }
  const minZeros = head.length / 40;
  if (oddZeros >= minZeros && oddZeros > 9 * evenZeros) return 'utf-16le';
  return evenZeros >= minZeros && evenZeros > 9 * oddZeros ? 'utf-16be' : undefined;
}

function withoutLost(text: string): string {
  return text.replaceAll('\ufffd', '');
}
