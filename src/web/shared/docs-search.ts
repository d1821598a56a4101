/** A part of a page, as the build and the server write it. */
export interface DocsEntry {
  /** Address below `/docs/`. */
  readonly page: string;
  readonly title: string;
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
  /** Words that find the page, and that it does not have. */
  readonly keywords?: string;
}

export interface IndexedDocs {
  readonly entry: DocsEntry;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly keywords: string;
}

/** Words of questions that say nothing about their subject. */
const fillers: ReadonlySet<string> = new Set(
  'a an and are at can do does for from how i in is it my not of on or the to what when with'.split(' '),
);
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
    keywords: plainText(entry.keywords ?? ''),
  }));
}

/**
 * Returns the entries that have the words of the query, best first.
 *
 * @param needsAllWords false finds those with the most words, where none has all
 */
export function findDocs(
  index: readonly IndexedDocs[],
  query: string,
  maxResults: number,
  needsAllWords = true,
): readonly DocsEntry[] {
  const all = plainText(query).split(/\s+/).slice(0, maxWords);
  const meant = all.filter(word => !fillers.has(word));
  const words = meant.length === 0 ? all : meant;
  const found = index.map(one => {
    const scores = words.map(word => scoreOf(one, word));
    const matches = scores.filter(score => score > 0).length;
    const score = weightOf(one.entry) * scores.reduce((sum, score) => sum + score, 0);
    return { entry: one.entry, matches, score };
  });
  const needed = needsAllWords ? words.length : Math.max(1, ...found.map(({ matches }) => matches));
  return found
    .filter(({ matches }) => matches === needed)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxResults)
    .map(({ entry }) => entry);
}

/** Guides come before operations, and these before what players fetch. */
function weightOf({ page }: DocsEntry): number {
  if (page === 'reference/delivery') return 0.3;
  return page.startsWith('reference/') ? 0.6 : 1;
}

/** Words in headings count more than those in texts, and whole words more than beginnings. */
function scoreOf({ title, heading, text, keywords }: IndexedDocs, word: string): number {
  const inHeading = Math.max(matchOf(heading, word), matchOf(keywords, word));
  return 10 * inHeading + 3 * matchOf(title, word) + matchOf(text, word);
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
