/** Usual encodings of text files without a byte order mark that are not UTF-8, by language. Others have Windows-1252. */
const usualEncodings: readonly (readonly [encoding: string, languages: string])[] = [
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
export const fallbackEncoding = 'windows-1252';

const centralEuropean = [
  ...['áčďéěíňóřšťúůýž', 'áäčďéíĺľňóôŕšťúýž', 'ąćęłńóśźż', 'áéíóöőúüű', 'ăâîşţ', 'čćđšž', 'ëç'],
];
/** Letters beyond ASCII of one language each, in lower case. */
const latinAlphabets: Readonly<Record<string, readonly string[]>> = {
  'windows-1252': [
    ...['äöüß', 'àâæçéèêëîïôùûüÿœ', 'áéíñóúüºª', 'ãõáâàçéêíóôúüºª', 'àèéìíîòóùú', 'äåöé', 'æøåéöäôòó'],
    ...['ëïéèöüáíóàêç', 'àçèéíïòóúü·'],
  ],
  'windows-1250': centralEuropean,
  'windows-1254': ['çğıöşüâîû'],
  'windows-1258': ['ăâđêôơưàáèéíóùú'],
  'windows-1257': ['äõöüšž', 'āčēģīķļņšūž', 'ąčęėįšųūž'],
  'iso-8859-2': centralEuropean,
};
/** Looks like Turkish in Windows-1254. */
const icelandic = 'áðéíóúýþæö';
/** The most frequent letters, more than half of any text. */
const frequentLetters: Readonly<Record<string, string>> = {
  'windows-1251': 'оеаинтсрвлкмді',
  'koi8-r': 'оеаинтсрвлкмд',
  'windows-1253': 'αοιετνσρηυςάίόέή',
  'windows-1255': 'יוהלאתבשמרנ',
  'windows-1256': 'اليمنوتربهد',
  'windows-874': 'านรอเกงยลมทวสี่้ไั',
};
/** Scores by the first byte of a character: `[from, to, score]`. Above 1 where another encoding has common characters, too. */
const wideCharacters: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  shift_jis: [
    [0x81, 0x81, 0.8],
    [0x82, 0x83, 1.2],
    [0x88, 0x97, 0.8],
    [0x98, 0xea, 0.2],
  ],
  'euc-jp': [
    [0xa1, 0xa1, 0.8],
    [0xa4, 0xa5, 1.3],
    [0xb0, 0xcf, 0.8],
    [0xd0, 0xf4, 0.2],
  ],
  'euc-kr': [
    [0xa1, 0xa1, 0.8],
    [0xb0, 0xc8, 1.2],
    [0xca, 0xfd, 0.2],
  ],
  big5: [
    [0xa1, 0xa3, 0.8],
    [0xa4, 0xc6, 0.9],
    [0xc9, 0xf9, 0.3],
  ],
  gb18030: [
    [0xa1, 0xa3, 0.8],
    [0xb0, 0xd7, 0.9],
    [0xd8, 0xf7, 0.3],
  ],
};
/** Second bytes below belong to rare characters, except in Shift-JIS and Big5. */
const minSecondByte = 0xa1;
const punctuation = /[\u2010-\u2027\u2030-\u203a\u00a0\u00ab\u00bb\u00bf\u00a1\u20ac\u2116\u266a\u00b0]/;
/** Advantage of the usual encoding of the language, against texts that would be as good in another one. */
const languageBonus = 0.1;
const fallbackBonus = 0.02;
const neutral = new RegExp(`${punctuation.source}|\\p{M}`, 'u');
const maxLetterRun = 2;
const minAccentShare = 0.15;

/**
 * Finds the encoding in which a text that is not UTF-8 reads best: the language may be wrong, or the text that of another one.
 * @param sample lines with bytes beyond ASCII
 * @param language a tag in its canonical case
 */
export function detectEncoding(sample: Uint8Array, language: string): string {
  const usual = usualEncodingOf(language);
  const isIcelandic = /^(is|fo)\b/.test(language);
  // Few characters tell little.
  const usualBonus = languageBonus + 1 / Math.max(1, sample.filter(byte => byte >= 0x80).length);
  const encodings = [usual, ...[latinAlphabets, frequentLetters, wideCharacters].flatMap(Object.keys)];
  let best = { encoding: fallbackEncoding, score: 0 };
  for (const encoding of new Set(encodings)) {
    const text = decodeValid(new TextDecoder(encoding, { fatal: true }), sample);
    if (text === undefined) continue;
    const bonus = encoding === usual ? usualBonus : encoding === fallbackEncoding ? fallbackBonus : 0;
    const score = scoreOf(encoding, text, sample, isIcelandic) * (1 + bonus);
    if (score > best.score) best = { encoding, score };
  }
  return best.encoding;
}

export function decodeValid(
  decoder: InstanceType<typeof TextDecoder>,
  bytes: Uint8Array,
): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function usualEncodingOf(language: string): string {
  const isOf = (tag: string) => language === tag || language.startsWith(`${tag}-`);
  return usualEncodings.find(([, tags]) => tags.split(' ').some(isOf))?.[0] ?? fallbackEncoding;
}

function scoreOf(encoding: string, text: string, bytes: Uint8Array, isIcelandic: boolean): number {
  const alphabets = latinAlphabets[encoding];
  if (encoding === 'windows-1258' && !hasManyAccents(text)) return 0;
  if (alphabets !== undefined) return scoreLatin(text, isIcelandic ? [...alphabets, icelandic] : alphabets);
  const letters = frequentLetters[encoding];
  if (letters !== undefined) return scoreLetters(text, letters);
  const wide = wideCharacters[encoding];
  return wide === undefined ? 0 : scoreWide(encoding, bytes, wide);
}

/** Vietnamese has its tones as characters of their own. */
function hasManyAccents(text: string): boolean {
  const accents = text.match(/\p{M}/gu)?.length ?? 0;
  return accents > minAccentShare * (text.match(/[^\0-\x7f]/g)?.length ?? 0);
}

/** The share of letters in the alphabet that fits best, which are rarely next to each other. */
function scoreLatin(text: string, alphabets: readonly string[]): number {
  const runs = text.toLowerCase().match(/[^\0-\x7f]+/g) ?? [];
  const letters = runs.map(run => [...run].filter(character => !neutral.test(character)));
  const all = letters.flat();
  if (all.length === 0) return 1;
  const fitting = alphabets.map(alphabet => all.filter(letter => alphabet.includes(letter)).length);
  const separate = letters.filter(({ length }) => length <= maxLetterRun).flat().length;
  return (Math.max(...fitting) / all.length) * (separate / all.length);
}

/** The share of frequent letters of another script, which has no letters of ASCII in its words. */
function scoreLetters(text: string, frequent: string): number {
  let sum = 0;
  let count = 0;
  for (const [, before = '', character = '', after = ''] of text.matchAll(
    /(?<=([\s\S]?))([^\0-\x7f])(?=([\s\S]?))/g,
  )) {
    count += 1;
    const lower = character.toLowerCase();
    const isWithinWord = /[a-z]/i.test(before) || /[a-z]/i.test(after);
    const isCapitalInside = lower !== character && /\p{Ll}/u.test(before);
    if (isWithinWord || isCapitalInside) continue;
    if (frequent.includes(lower)) sum += 1;
    else if (punctuation.test(character)) sum += 0.5;
    else if (/[\p{L}\p{M}]/u.test(character)) sum += 0.1;
  }
  return count === 0 ? 0 : sum / count;
}

function scoreWide(
  encoding: string,
  bytes: Uint8Array,
  scores: readonly (readonly [number, number, number])[],
): number {
  const hasLowBytes = encoding === 'shift_jis' || encoding === 'big5';
  let sum = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const first = bytes[at]!;
    if (first < 0x80) continue;
    count += 1;
    // Katakana of half width.
    if (encoding === 'shift_jis' && first >= 0xa1 && first <= 0xdf) continue;
    const isAfterLetter = isLetter(bytes[at - 1] ?? 0);
    at += 1;
    if (isAfterLetter || (!hasLowBytes && bytes[at]! < minSecondByte)) continue;
    sum += scores.find(([from, to]) => first >= from && first <= to)?.[2] ?? 0;
  }
  return count === 0 ? 0 : sum / count;
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
