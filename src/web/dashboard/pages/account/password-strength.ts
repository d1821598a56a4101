import { passwordLength } from '../../../../shared/limits/resource-limits.ts';
import { t } from '../../texts/sign-in.ts';

interface PasswordStrength {
  readonly score: 0 | 1 | 2 | 3 | 4;
  readonly label: string;
}

const common = /password|passwort|qwert|azert|letmein|welcome|admin|millrace|123456|abcdef|iloveyou/gi;
const wordPattern = /\p{L}\p{Ll}{2,}/gu;
const years = /(?:19|20)\d\d/g;
const wordBits = 2.5;
const placeholder = '\u0000';
const yearBits = 6;
const classes: readonly (readonly [RegExp, number])[] = [
  [/\p{Ll}/u, 26],
  [/\p{Lu}/u, 26],
  [/\d/, 10],
  [/[^\p{L}\d]/u, 30],
];
const stepBits = [40, 55, 72] as const;

/** Rates length, character classes and what attackers try first: words, years, the address, sequences. */
export function strengthOf(password: string, email: string): PasswordStrength | undefined {
  if (password === '') return undefined;
  if (password.length < passwordLength.min) {
    const missing = passwordLength.min - password.length;
    return { score: 0, label: t('signIn.tooShort', { count: missing }) };
  }
  if (password.length > passwordLength.max)
    return { score: 0, label: t('signIn.tooLong', { count: passwordLength.max }) };
  if (password.toLowerCase() === email.toLowerCase()) return { score: 0, label: t('signIn.isEmail') };
  const bits = bitsOf(password, email);
  if (bits < stepBits[0]) return { score: 1, label: t('signIn.weak') };
  if (bits < stepBits[1]) return { score: 2, label: t('signIn.fair') };
  if (bits < stepBits[2]) return { score: 3, label: t('signIn.good') };
  return { score: 4, label: t('signIn.strong') };
}

function bitsOf(password: string, email: string): number {
  const [name = ''] = email.split('@');
  const own = name.length >= 4 ? password.replaceAll(new RegExp(escaped(name), 'gi'), '') : password;
  const uncommon = own.replaceAll(common, '');
  let bits = 0;
  const rest = uncommon
    .replaceAll(wordPattern, word => {
      bits += distinctSteps(word) * wordBits;
      return placeholder;
    })
    .replaceAll(years, () => {
      bits += yearBits;
      return placeholder;
    });
  return bits + distinctSteps(rest) * Math.log2(alphabetOf(password));
}

function distinctSteps(text: string): number {
  const codes = Array.from(text, character => character.codePointAt(0) ?? 0);
  const isNew = (code: number, index: number) => index === 0 || Math.abs(code - codes[index - 1]!) > 1;
  return codes.filter((code, index) => code !== 0 && isNew(code, index)).length;
}

function alphabetOf(password: string): number {
  return classes.reduce((sum, [pattern, size]) => sum + (pattern.test(password) ? size : 0), 0);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
