/** A type of browsers and of Node.js. */
type Decoder = InstanceType<typeof TextDecoder>;

/** Encodings of text files without a byte order mark that are not UTF-8, by language. Others have Windows-1252. */
const legacyEncodings: readonly (readonly [encoding: string, languages: string])[] = [
  ['windows-1250', 'sr-Latn bs cs hr hu pl ro sk sl sq'],
  ['windows-1251', 'be bg kk ky mk mn ru sr tg uk'],
  ['windows-1253', 'el'],
  ['windows-1254', 'az tr'],
  ['windows-1255', 'he iw yi'],
  ['windows-1256', 'ar fa ps ur'],
  ['windows-1257', 'et lt lv'],
  ['windows-1258', 'vi'],
  ['windows-874', 'th'],
  ['shift_jis', 'ja'],
  ['euc-kr', 'ko'],
  ['big5', 'zh-Hant zh-TW zh-HK zh-MO'],
  ['gb18030', 'zh'],
];
const fallbackEncoding = 'windows-1252';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Length above which lines are decoded in pieces. */
const maxLineBytes = 64 * 1_024;

/** Decodes UTF-8, UTF-16 with or without a byte order mark, and else the usual encoding of the language, line by line. */
export class TextFileDecoder {
  /** Undefined while everything was UTF-8. */
  encoding: string | undefined;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });
  readonly #utf16: Decoder | undefined;
  readonly #legacy: string;
  #rest = new Uint8Array();

  /**
   * @param head the first bytes, or all
   * @param language a tag in its canonical case
   */
  constructor(head: Uint8Array, language = '') {
    this.encoding = utf16EncodingOf(head);
    if (this.encoding !== undefined) this.#utf16 = new TextDecoder(this.encoding);
    this.#legacy = legacyEncodingOf(language);
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
    if (whole !== undefined) return whole;
    let text = '';
    for (let begin = 0; begin < bytes.length; ) {
      const end = bytes.indexOf(lineFeed, begin) + 1 || bytes.length;
      text += this.#decodeLine(bytes.subarray(begin, end));
      begin = end;
    }
    return text;
  }

  #decodeLine(bytes: Uint8Array): string {
    const utf8 = decodeValid(this.#utf8, bytes);
    if (utf8 !== undefined) return utf8;
    const legacy = decodeValid(new TextDecoder(this.#legacy, { fatal: true }), bytes);
    this.encoding = legacy === undefined ? fallbackEncoding : this.#legacy;
    return legacy ?? new TextDecoder(fallbackEncoding).decode(bytes);
  }
}

function decodeValid(decoder: Decoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
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

function legacyEncodingOf(language: string): string {
  const isOf = (tag: string) => language === tag || language.startsWith(`${tag}-`);
  return legacyEncodings.find(([, tags]) => tags.split(' ').some(isOf))?.[0] ?? fallbackEncoding;
}

function withoutLost(text: string): string {
  return text.replaceAll('\ufffd', '');
}
