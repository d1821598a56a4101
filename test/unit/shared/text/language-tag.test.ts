import { describe, expect, it } from 'vitest';
import {
  languageTagProblem,
  nativeLanguageName,
  normalizeLanguageTag,
} from '../../../../src/shared/text/language-tag.ts';

describe('a language tag', () => {
  it.each([
    ['fr', 'fr'],
    ['FR-ca', 'fr-CA'],
    ['zh-hans', 'zh-Hans'],
    ['ZH-HANS-CN', 'zh-Hans-CN'],
    ['pa-Guru', 'pa-Guru'],
    ['sr-Latn-ME', 'sr-Latn-ME'],
    ['es-419', 'es-419'],
    ['en-001', 'en-001'],
    ['iw', 'iw'],
    ['in', 'in'],
    ['mo', 'mo'],
    ['sh-yu', 'sh-YU'],
    ['no-NO-NY', 'no-NO-NY'],
    ['ja-jp-traditional', 'ja-JP-TRADITIONAL'],
    ['th-TH-TRADITIONAL', 'th-TH-TRADITIONAL'],
    ['en-US-POSIX', 'en-US-POSIX'],
  ])('%s is known as %s', (text, known) => {
    expect(normalizeLanguageTag(text)).toBe(known);
    expect(languageTagProblem(text)).toBeUndefined();
  });

  it.each([
    'xx',
    'fra',
    'fr-XX',
    'fr-ZZ',
    'en-UK',
    'fr-Abcd',
    'fr-Zzzz',
    'en-999',
    'fr-FR-FR',
    'fr-CA-x',
    'f',
  ])('%s is unknown', text => {
    expect(languageTagProblem(text)).toBe('The "language" attribute is not valid.');
  });

  it.each(['fr_FR', 'fr ', '', '-fr', 'fr-', 'fr--CA', '4fr', 'fr/CA', 'fr%00', 'ﬁ', 'fr\n'])(
    '%j has a wrong form',
    text => {
      expect(languageTagProblem(text)).toMatch(/must contain only letters and dashes/);
    },
  );
});

describe('the name of a language', () => {
  it.each([
    ['fr', 'Français'],
    ['fr-CA', 'Français (Canada)'],
    ['sr-Cyrl', 'Српски (ћирилица)'],
    ['zh-Hans', '中文（简体）'],
    ['en', 'English'],
    ['es-419', 'Español (Latinoamérica)'],
    ['ka', 'ქართული'],
    ['zu', 'IsiZulu'],
    ['nb', 'Norwegian Bokmål'],
    ['nn', 'Norwegian Nynorsk'],
    ['tl', 'Tagalog'],
    ['iw', 'iw'],
    ['sh-YU', 'sh-YU'],
    ['ja-JP-TRADITIONAL', 'ja-JP-TRADITIONAL'],
  ])('of %s is %s', (tag, name) => {
    expect(nativeLanguageName(tag)).toBe(name);
  });
});
