import { locale } from '../state/texts.ts';

const trackTags =
  'af am ar az be bg bn bs ca cs cy da de de-AT de-CH el en en-AU en-CA en-GB en-IN en-US eo es es-419 es-ES es-MX et eu fa fi fr ' +
  'fr-BE fr-CA fr-CH ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nl-BE nn or pa ' +
  'pl ps pt pt-BR pt-PT ro ru si sk sl so sq sr sr-Latn sv sw ta te th tl tr uk ur uz vi xh yo zh-Hans zh-Hant zh-HK zu';
const spokenTags =
  'ar ca cs da de el en es fa fi fr he hi hr hu it ja ko ml nl nn no pl pt ru sk sl te tr uk ur vi zh';

type LanguageOption = readonly [tag: string, name: string];

export function trackLanguages(): LanguageOption[] {
  return optionsOf(trackTags.split(' '));
}

export function spokenLanguages(): LanguageOption[] {
  return optionsOf(spokenTags.split(' '));
}

export function languageName(tag: string): string {
  try {
    const name = new Intl.DisplayNames(locale(), { type: 'language', languageDisplay: 'standard' }).of(tag);
    return name === undefined ? tag : name.slice(0, 1).toLocaleUpperCase(locale()) + name.slice(1);
  } catch {
    return tag;
  }
}

function optionsOf(tags: readonly string[]): LanguageOption[] {
  const collator = new Intl.Collator(locale());
  return tags
    .map(tag => [tag, languageName(tag)] as const)
    .sort(([, one], [, other]) => collator.compare(one, other));
}
