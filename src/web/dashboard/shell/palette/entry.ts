import { plainText } from '../../../shared/docs-search.ts';
import type { IconName } from '../../ui/icon.tsx';

/** Something that the search finds. */
export interface PaletteEntry {
  /** Identifies it among all entries, also later. */
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly icon: IconName;
  /** Other words by which it is found. */
  readonly also?: string | undefined;
  /** Leads to a page. Those of the documentation open in a tab of their own. */
  readonly href?: string;
  readonly run?: () => void;
  /** True when `run` leaves the page. */
  readonly leaves?: boolean;
}

export interface PaletteGroup {
  readonly title: string;
  readonly entries: readonly PaletteEntry[];
}

/** Returns the entries that have the beginning of a word for each word of the query, best first. */
export function findEntries(
  entries: readonly PaletteEntry[],
  query: string,
  max: number,
): readonly PaletteEntry[] {
  const words = wordsOf(query);
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

function scoreOf({ label, also = '' }: PaletteEntry, words: readonly string[]): number {
  const [named, others] = [wordsOf(label), wordsOf(also)];
  let score = 1;
  for (const [index, word] of words.entries()) {
    const at = named.findIndex(one => one.startsWith(word));
    if (at !== -1) score += named[at] === word ? 12 : at === index ? 10 : 8;
    else if (others.some(one => one.startsWith(word))) score += 2;
    else return 0;
  }
  return score;
}

function wordsOf(text: string): string[] {
  return plainText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '');
}
