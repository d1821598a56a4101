import type { GetICUArgs } from '@schummar/icu-type-parser';
import format, { type CompiledMessage, type FormatOptions, type FormatValues } from 'icu-minify/format';
import { remember } from '../shared/remember.ts';
import type { Catalogue, TranslationOf } from './catalogue.ts';
import { directionOf, english, type Language, type LanguageChoice } from './languages.ts';

type ArgumentsOf<Message extends string> = GetICUArgs<
  Message,
  { ICUNumberArgument: number; ICUDateArgument: Date; ICUArgument: string | number }
>;

/** Translates a message; its arguments follow from the English text. */
export type Translate<English extends Catalogue> = <Key extends keyof English & string>(
  key: Key,
  ...args: keyof ArgumentsOf<English[Key]> extends never ? [] : [values: ArgumentsOf<English[Key]>]
) => string;

/** Translates a message with tags, such as `<b>`. @param tags make an element of what is inside a tag, by its name */
export type TranslateRich<English extends Catalogue> = <Key extends keyof English & string, Element>(
  key: Key,
  values: ArgumentsOf<English[Key]>,
  tags: Readonly<Record<string, (text: string) => Element>>,
) => (string | Element)[];

/** Texts in one language: a page may show several. */
export interface Texts<English extends Catalogue> extends LanguageChoice {
  readonly direction: 'ltr' | 'rtl';
  readonly t: Translate<English>;
  readonly rich: TranslateRich<English>;
}

/** Imports the messages of each language but English when they are needed. */
export type CatalogueImports<English extends Catalogue> = Readonly<
  Record<Exclude<Language, 'en'>, () => Promise<{ readonly default: TranslationOf<English> }>>
>;

/** Loads the texts in a language. English needs no request, and replaces what cannot be loaded. */
export async function loadTexts<English extends Catalogue>(
  source: English,
  imports: CatalogueImports<English>,
  choice: LanguageChoice,
): Promise<Texts<English>> {
  if (choice.language === 'en') return createTexts(source, choice);
  try {
    const { default: messages } = await imports[choice.language]();
    return createTexts(messages, choice);
  } catch {
    return createTexts(source, english);
  }
}

export function createTexts<English extends Catalogue>(
  messages: TranslationOf<English>,
  choice: LanguageChoice,
): Texts<English> {
  const t = (key: keyof English, values?: FormatValues) =>
    format(messages[key] as CompiledMessage, choice.locale, values, options) as string;
  const rich: TranslateRich<English> = <Element>(
    key: keyof English,
    values: object,
    tags: Readonly<Record<string, (text: string) => Element>>,
  ) => {
    const elements = Object.entries(tags).map(([name, make]) => [
      name,
      (chunks: unknown[]) => make(chunks.join('')),
    ]);
    const all = { ...values, ...(Object.fromEntries(elements) as FormatValues) };
    return [format(messages[key] as CompiledMessage, choice.locale, all, options)].flat() as (
      | string
      | Element
    )[];
  };
  return { ...choice, direction: directionOf(choice.language), t: t as Translate<English>, rich };
}

const options: FormatOptions = {
  formats: { number: { percent: { style: 'percent' } } },
  formatters: {
    getDateTimeFormat: remember((...args) => new Intl.DateTimeFormat(...args)),
    getNumberFormat: remember((...args) => new Intl.NumberFormat(...args)),
    getPluralRules: remember((...args) => new Intl.PluralRules(...args)),
  },
};
