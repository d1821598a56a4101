import { plainText } from '../../shared/docs-search.ts';
import { locale } from '../state/texts.ts';

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
/** The names in the language of the page, with all codes in their order once they were asked for. */
let named:
  | { readonly locale: string; readonly names: Intl.DisplayNames; codes?: readonly string[] }
  | undefined;

/** Returns the codes of all countries, in the order of their names. */
export function countries(): readonly string[] {
  const all = namedCountries();
  const { compare } = new Intl.Collator(all.locale);
  all.codes ??= letters
    .flatMap(first => letters.map(second => first + second))
    .filter(code => !others.has(code) && all.names.of(code) !== undefined && isCurrent(code))
    .sort((one, other) => compare(countryName(one), countryName(other)));
  return all.codes;
}

export function countryName(code: string): string {
  try {
    return namedCountries().names.of(code) ?? code;
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

function namedCountries(): NonNullable<typeof named> {
  if (named?.locale !== locale()) {
    const names = new Intl.DisplayNames(locale(), { type: 'region', fallback: 'none' });
    named = { locale: locale(), names };
  }
  return named;
}

/** False for codes that another one has replaced, such as `SU`. */
function isCurrent(code: string): boolean {
  return Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
}
