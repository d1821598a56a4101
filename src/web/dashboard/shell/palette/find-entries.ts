import { plainText } from '../../../shared/docs-search.ts';

interface Named {
  readonly label: string;
  readonly also?: string | undefined;
}

/** Returns the entries that have the beginning of a word for each word of the query, best first. */
export function findEntries<Entry extends Named>(
  entries: readonly Entry[],
  query: string,
  max: number,
): readonly Entry[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return entries
    .map(entry => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, max)
    .map(({ entry }) => entry);
}

/** True when a title has all words of the query, as the server would find it. */
export function hasWords(title: string, query: string): boolean {
  return plainText(title).includes(plainText(query.trim()));
}

function scoreOf({ label, also = '' }: Named, words: readonly string[]): number {
  const [named, others] = [wordsOf(label), wordsOf(also)];
  let score = 1;
  for (const [index, word] of words.entries()) {
    const at = named.findIndex(one => begins(one, word));
    if (at !== -1) score += named[at] === word ? 12 : at === index ? 10 : 8;
    else if (others.some(one => begins(one, word))) score += 2;
    else return 0;
  }
  return score;
}

function wordsOf(text: string): string[] {
  return plainText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '');
}

/** Languages without spaces have words inside of what looks like one. */
function begins(text: string, word: string): boolean {
  return unspaced.test(word) ? text.includes(word) : text.startsWith(word);
}

const unspaced = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
