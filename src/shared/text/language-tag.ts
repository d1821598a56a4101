import { LRUCache } from 'lru-cache';
import { maxEntries } from '../lru-limit.ts';
import { anyCase } from './any-case.ts';

/** **Source**: RFC 5646 2.1. Scripts (`Hans`) and regions (`CA`, `419`) come from the runtime. */
const primaryLanguages: ReadonlySet<string> = new Set(
  (
    'af ak am ar as az be bg bm bn bo br bs ca ce cs cv cy da de dz ee el en eo es et eu fa ff fi fo fr fy ga gd gl gu ' +
    'gv ha he hi hr hu hy ia id ie ig ii in is it iw ja jv ka ki kk kl km kn ko ks ku kw ky lb lg ln lo lt lu lv mg mi ' +
    'mk ml mn mo mr ms mt my nb nd ne nl nn no oc om or os pa pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sn ' +
    'so sq sr su sv sw ta te tg th ti tk tl to tr tt ug uk ur uz vi wo xh yi yo za zh zu'
  ).split(' '),
);

const grandfatheredTags: ReadonlyMap<string, string> = new Map(
  ['sh-YU', 'no-NO-NY', 'ja-JP-TRADITIONAL', 'th-TH-TRADITIONAL', 'en-US-POSIX'].map(tag => [
    tag.toLowerCase(),
    tag,
  ]),
);
/** The runtime maps them to newer tags. */
const deprecatedLanguages: ReadonlySet<string> = new Set(['in', 'iw', 'mo', 'sh']);
/** Clients expect their English names. */
const languagesNamedInEnglish: ReadonlySet<string> = new Set(['nb', 'nn', 'tl']);
/** Codes for "unknown" and for testing. */
const placeholderRegions: ReadonlySet<string> = new Set(['ZZ', 'XA', 'XB', 'QO']);
const placeholderScripts: ReadonlySet<string> = new Set(['Zzzz', 'Zxxx', 'Zyyy', 'Zinh']);

/** Pattern of primary languages by their first letter, which makes it a quarter of the length. */
const languagePattern = Object.entries(Object.groupBy(primaryLanguages, language => language[0]!))
  .map(([first, ofLetter = []]) => {
    const seconds = ofLetter.map(language => language[1]!).join('');
    return `${anyCase(first)}[${seconds}${seconds.toUpperCase()}]`;
  })
  .join('|');
/** Pattern in the API document. Scripts and regions must also exist. */
export const languageTagPattern = `(?:${[
  `(?:${languagePattern})(?:-[a-zA-Z]{4})?(?:-(?:[a-zA-Z]{2}|[0-9]{3}))?`,
  ...[...grandfatheredTags.keys()].map(anyCase),
].join('|')})`;
const formPattern = /^[a-zA-Z]+(?:-[a-zA-Z0-9]+)*$/;
const knownTagPattern = /^([a-z]{2})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?$/;

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const scripts = new Intl.DisplayNames('en', { type: 'script', fallback: 'none' });
const nameCache = new LRUCache<string, string>(maxEntries(5_000));

export const languageTagMessages = {
  form: 'The "language" attribute must contain only letters and dashes (for example "fr", "fr-BE").',
  unknown: 'The "language" attribute is not valid.',
} as const;

/** Returns the usual case (`zh-Hans-CN`), undefined for an unknown tag. */
export function normalizeLanguageTag(text: string): string | undefined {
  const lower = text.toLowerCase();
  const exception = grandfatheredTags.get(lower);
  if (exception !== undefined) return exception;
  const [, primary, scriptText, regionText] = knownTagPattern.exec(lower) ?? [];
  if (primary === undefined || !primaryLanguages.has(primary)) return undefined;
  const script = scriptText && scriptText[0]!.toUpperCase() + scriptText.slice(1);
  const region = regionText?.toUpperCase();
  if (script !== undefined && (placeholderScripts.has(script) || scripts.of(script) === undefined))
    return undefined;
  if (region !== undefined && !isRegion(region)) return undefined;
  return [primary, script, region].filter(part => part !== undefined).join('-');
}

/** A language, script, region and a few variants take less. */
const maxTagChars = 35;

/** Converts a code of a media file, such as `ger` or `deu` to `de`; undefined for invalid codes and `und`. */
export function canonicalLanguageTag(text: string): string | undefined {
  if (text.length > maxTagChars) return undefined;
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    return tag === 'und' ? undefined : tag;
  } catch {
    return undefined;
  }
}

export function languageTagProblem(text: string): string | undefined {
  if (!formPattern.test(text)) return languageTagMessages.form;
  return normalizeLanguageTag(text) === undefined ? languageTagMessages.unknown : undefined;
}

/** Returns a capitalized name such as `Français (Canada)`, or the tag when it is not known. */
export function nativeLanguageName(tag: string): string {
  const kept = nameCache.get(tag);
  if (kept !== undefined) return kept;
  const name = nameOf(tag);
  nameCache.set(tag, name);
  return name;
}

function isRegion(region: string): boolean {
  if (placeholderRegions.has(region) || regions.of(region) === undefined) return false;
  // Outdated regions (`UK`, `DD`) map to other ones.
  return Intl.getCanonicalLocales(`und-${region}`)[0] === `und-${region}`;
}

function nameOf(tag: string): string {
  const primary = tag.slice(0, 2);
  if (deprecatedLanguages.has(primary) || grandfatheredTags.has(tag.toLowerCase())) return tag;
  const inEnglish = languagesNamedInEnglish.has(primary);
  const names = new Intl.DisplayNames(inEnglish ? 'en' : tag, {
    type: 'language',
    languageDisplay: 'standard',
    fallback: 'none',
  });
  const name = names.of(tag);
  if (name === undefined) return tag;
  // The runtime calls Tagalog Filipino.
  return capitalize(primary === 'tl' ? name.replace('Filipino', 'Tagalog') : name, tag);
}

function capitalize(name: string, tag: string): string {
  const [first = ''] = name;
  // Georgian sentences do not start with capitals.
  if (/\p{Script=Georgian}/u.test(first)) return name;
  return first.toLocaleUpperCase(tag) + name.slice(first.length);
}
