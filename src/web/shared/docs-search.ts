/** A part of a page, as the build and the server write it. */
export interface DocsEntry {
  /** Address below `/docs/`. */
  readonly page: string;
  readonly title: string;
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

export interface IndexedDocs {
  readonly entry: DocsEntry;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const maxWords = 8;
/** Characters of a text around the word that was found. */
const excerptLength = 140;

/** @throws when a part of the index cannot be loaded */
export async function loadDocsIndex(addresses: readonly string[]): Promise<readonly IndexedDocs[]> {
  const lists = await Promise.all(
    addresses.map(async address => {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`status ${response.status}`);
      return (await response.json()) as DocsEntry[];
    }),
  );
  return lists.flat().map(entry => ({
    entry,
    title: plainText(entry.title),
    heading: plainText(entry.heading),
    text: plainText(entry.text),
  }));
}

/** Returns the entries that have a word for each word of the query, best first. */
export function findDocs(
  index: readonly IndexedDocs[],
  query: string,
  maxResults: number,
): readonly DocsEntry[] {
  const words = plainText(query).split(/\s+/).slice(0, maxWords);
  return index
    .map(one => ({ entry: one.entry, score: weightOf(one.entry) * scoreOf(one, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxResults)
    .map(({ entry }) => entry);
}

/** Guides come before operations. */
function weightOf({ page }: DocsEntry): number {
  return page.startsWith('reference/') ? 0.6 : 1;
}

/** Words in headings count more than those in texts, and whole words more than beginnings. 0 when one is missing. */
function scoreOf({ title, heading, text }: IndexedDocs, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = 10 * matchOf(heading, word) + 3 * matchOf(title, word) + matchOf(text, word);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

function matchOf(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at === -1) return 0;
  const isLetter = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  if (isLetter(text[at - 1])) return 1;
  return isLetter(text[at + word.length]) ? 2 : 3;
}

/** Case and accents do not matter. */
export function plainText(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** Returns the part of a text around the first word of the query. */
export function docsExcerpt(text: string, query: string): string {
  const [word = ''] = plainText(query).split(/\s+/);
  const at = Math.max(0, plainText(text).indexOf(word) - excerptLength / 3);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const excerpt = text.slice(start, start + excerptLength);
  return `${start === 0 ? '' : '… '}${excerpt}${start + excerptLength < text.length ? ' …' : ''}`;
}
