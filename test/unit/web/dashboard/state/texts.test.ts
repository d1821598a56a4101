import { afterEach, beforeAll, expect, test } from 'vitest';
import type * as Texts from '../../../../../src/web/dashboard/state/texts.ts';
import { chooseLanguage } from '../../../../../src/web/i18n/languages.ts';

/** A module of its own: the other one has the texts of the dashboard where files share modules. */
const alone = '../../../../../src/web/dashboard/state/texts.ts?alone';
const { defineTexts, locale, setLanguage, shownLanguage } = (await import(alone)) as typeof Texts;

type Messages = { readonly default: { readonly greeting: string } };

const own = chooseLanguage(navigator.languages, ['en']);
const greeting = (text: string) => async (): Promise<Messages> => ({ default: { greeting: text } });
const missing = async (): Promise<Messages> => {
  throw new TypeError('Failed to fetch dynamically imported module');
};
const none = { de: missing, fr: missing, es: missing, pt: missing, ja: missing, ar: missing };

let one: { t: (key: 'greeting') => string };
let other: typeof one;
beforeAll(() => {
  one = defineTexts({ greeting: 'Hello' }, { ...none, de: greeting('Hallo'), fr: greeting('Bonjour') });
  other = defineTexts({ greeting: 'Good morning' }, { ...none, de: greeting('Guten Morgen') });
});
afterEach(() => setLanguage(own));

test('a language whose texts cannot be loaded leaves the page, its direction and its dates as they are', async () => {
  await setLanguage(chooseLanguage(['de-AT']));
  await setLanguage(chooseLanguage(['ar']));
  expect([one.t('greeting'), shownLanguage(), locale()]).toEqual(['Hallo', 'de', 'de-AT']);
  await setLanguage(own);
  await setLanguage(chooseLanguage(['ja']));
  expect([one.t('greeting'), shownLanguage(), locale()]).toEqual(['Hello', 'en', own.locale]);
});

test('a part whose texts cannot be loaded is in English', async () => {
  await setLanguage(chooseLanguage(['de']));
  await setLanguage(chooseLanguage(['fr']));
  expect([one.t('greeting'), other.t('greeting'), shownLanguage()]).toEqual([
    'Bonjour',
    'Good morning',
    'fr',
  ]);
});
