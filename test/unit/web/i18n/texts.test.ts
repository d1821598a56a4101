import { describe, expect, test } from 'vitest';
import { chooseLanguage } from '../../../../src/web/i18n/languages.ts';
import { loadPlayerTexts } from '../../../../src/web/i18n/player.ts';
import { type CatalogueImports, loadTexts } from '../../../../src/web/i18n/texts.ts';

describe('chooseLanguage', () => {
  test.each([
    [['fr'], 'fr', 'fr'],
    [['de-AT', 'en'], 'de', 'de-AT'],
    [['nl', 'pt-PT', 'en'], 'pt', 'pt-PT'],
    [['nl', 'en-GB'], 'en', 'en-GB'],
    [['nl'], 'en', 'en'],
    [['', 'not a tag', 'C', 'ES'], 'es', 'es'],
    [['ar-EG'], 'ar', 'ar-EG-u-nu-latn'],
    [[], 'en', 'en'],
  ])('%j is %s, with dates and numbers of %s', (preferred, language, locale) => {
    expect(chooseLanguage(preferred)).toEqual({ language, locale });
  });
});

describe('texts', () => {
  test('plurals follow the rules of the language', async () => {
    const viewers = async (language: string) => {
      const { t } = await loadPlayerTexts(language);
      return [0, 1, 2, 3, 11, 1_234].map(count => t('player.viewers', { count }));
    };
    expect(await viewers('en')).toEqual([
      '0 viewers',
      '1 viewer',
      '2 viewers',
      '3 viewers',
      '11 viewers',
      '1,234 viewers',
    ]);
    expect((await viewers('fr')).slice(0, 3)).toEqual(['0 spectateur', '1 spectateur', '2 spectateurs']);
    expect((await viewers('de-DE')).at(-1)).toBe('1.234 Zuschauer');
    expect(await viewers('ar')).toEqual([
      'لا مشاهدين',
      'مشاهد واحد',
      'مشاهدان',
      '3 مشاهدين',
      '11 مشاهدًا',
      '1,234 مشاهدًا',
    ]);
  });

  test('percentages are written as in the language', async () => {
    const volume = async (language: string) =>
      (await loadPlayerTexts(language)).t('player.volumeLevel', { percent: 0.35 });
    expect(await volume('en')).toBe('Volume 35%');
    expect(await volume('de')).toBe('Lautstärke 35\u00a0%');
  });

  test('the attribute of a player comes before the languages of the browser', async () => {
    const { language, direction, t } = await loadPlayerTexts('ar');
    expect({ language, direction, text: t('player.play') }).toEqual({
      language: 'ar',
      direction: 'rtl',
      text: 'تشغيل',
    });
  });

  test('English replaces texts that cannot be loaded', async () => {
    const imports = { de: () => Promise.reject(new TypeError('Failed to fetch')) };
    const english = { 'a.b': 'Hello' } as const;
    const { language, locale, t } = await loadTexts(
      english,
      imports as unknown as CatalogueImports<typeof english>,
      chooseLanguage(['de-DE']),
    );
    expect([language, locale, t('a.b')]).toEqual(['en', 'en', 'Hello']);
  });
});
