import { plainText } from '../../shared/docs-search.ts';

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Regions that are not countries of ISO 3166-1, and those of tests. */
const others: ReadonlySet<string> = new Set([
  'AC',
  'CP',
  'CQ',
  'DG',
  'EA',
  'EU',
  'EZ',
  'IC',
  'QO',
  'TA',
  'UN',
  'XA',
  'XB',
  'ZZ',
]);
const maxFound = 8;
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
let all: readonly string[] | undefined;

/** Returns the codes of all countries, in the order of their names. */
export function countries(): readonly string[] {
  all ??= letters
    .flatMap(first => letters.map(second => first + second))
    .filter(code => !others.has(code) && names.of(code) !== undefined && isCurrent(code))
    .sort((one, other) => countryName(one).localeCompare(countryName(other), 'en'));
  return all;
}

export function countryName(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Returns the codes of countries that have a word with this beginning, or this code, which comes first. */
export function findCountries(text: string, except: readonly string[] = []): readonly string[] {
  const wanted = plainText(text.trim());
  if (wanted === '') return [];
  const rank = (code: string) => {
    const name = plainText(countryName(code));
    if (code.toLowerCase() === wanted || name === wanted) return 0;
    if (name.startsWith(wanted)) return 1;
    return name.split(/[^\p{L}]+/u).some(word => word.startsWith(wanted)) || name.includes(` ${wanted}`)
      ? 2
      : 3;
  };
  return countries()
    .filter(code => !except.includes(code) && rank(code) < 3)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, maxFound);
}

/** False for codes that another one has replaced, such as `SU`. */
function isCurrent(code: string): boolean {
  return Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
}
