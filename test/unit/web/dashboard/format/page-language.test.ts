import { afterEach, expect, test } from 'vitest';
import { countryName, findCountries } from '../../../../../src/web/dashboard/format/countries.ts';
import { inSentence } from '../../../../../src/web/dashboard/format/in-sentence.ts';
import { listText } from '../../../../../src/web/dashboard/format/list-text.ts';
import { formatBitrate, formatBytes } from '../../../../../src/web/dashboard/format/size.ts';
import { setLanguage } from '../../../../../src/web/dashboard/state/texts.ts';
import { t } from '../../../../../src/web/dashboard/texts/shell.ts';
import { chooseLanguage } from '../../../../../src/web/i18n/languages.ts';

const own = chooseLanguage(navigator.languages, ['en']);

afterEach(() => setLanguage(own));

test('values, countries and lists are written in the language of the page', async () => {
  await setLanguage(chooseLanguage(['de']));
  expect([formatBytes(1), formatBytes(95_400), formatBitrate(2_500_000)]).toEqual([
    '1 Byte',
    '95,4 KB',
    '2,5 Mbit/s',
  ]);
  expect(countryName('AT')).toBe('Österreich');
  expect(findCountries('deut')).toEqual(['DE']);
  expect(listText(['a', 'b', 'c'])).toBe('a, b und c');
  expect(t('copy.named', { name: inSentence('Streamschlüssel') })).toBe('Kopieren: Streamschlüssel');
});

test('values stay together with their units among words that are read from the right', async () => {
  await setLanguage(chooseLanguage(['ar']));
  expect(formatBytes(95_400)).toBe('\u206695.4 KB\u2069');
});

test('the last language that was wanted is shown', async () => {
  await Promise.all(['fr', 'ja', 'es'].map(tag => setLanguage(chooseLanguage([tag]))));
  expect(t('nav.settings')).toBe('Ajustes');
});
