import { normalizeLanguageTag } from '../../shared/text/language-tag.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
let tagByName: ReadonlyMap<string, string> | undefined;

/** Converts what models answer, such as `en`, `english` or `English`, to a language tag. Undefined: unknown. */
export function spokenLanguage(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  tagByName ??= new Map(namesOfLanguages());
  return normalizeLanguageTag(name) ?? tagByName.get(name);
}

function* namesOfLanguages(): Iterable<[name: string, tag: string]> {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  for (const first of letters) {
    for (const second of letters) {
      const tag = normalizeLanguageTag(first + second);
      const name = tag === undefined ? undefined : names.of(tag);
      if (tag !== undefined && name !== undefined) yield [name.toLowerCase(), tag];
    }
  }
}
