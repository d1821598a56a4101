/** How hard a password is to guess, in words. */
export interface PasswordStrength {
  /** 0 (cannot be used) to 4. */
  readonly score: 0 | 1 | 2 | 3 | 4;
  readonly words: string;
}

/** What the server asks of a password. */
export const passwordLengthMin = 12;
export const passwordLengthMax = 200;

const common = /password|passwort|qwert|azert|letmein|welcome|admin|millrace|123456|abcdef|iloveyou/gi;
const classes: readonly (readonly [RegExp, number])[] = [
  [/\p{Ll}/u, 26],
  [/\p{Lu}/u, 26],
  [/\d/, 10],
  [/[^\p{L}\d]/u, 30],
];
const stepBits = [45, 60, 80] as const;

/**
 * Judges a password by its length, its kinds of characters, and what guesses begin with: words that everybody uses, the own address,
 * characters that repeat or follow one another. undefined for none at all.
 */
export function strengthOf(password: string, email: string): PasswordStrength | undefined {
  if (password === '') return undefined;
  if (password.length < passwordLengthMin) {
    const missing = passwordLengthMin - password.length;
    return { score: 0, words: `Too short: ${missing} more ${missing === 1 ? 'character' : 'characters'}.` };
  }
  if (password.length > passwordLengthMax)
    return { score: 0, words: `Too long: ${passwordLengthMax} characters at most.` };
  if (password.toLowerCase() === email.toLowerCase())
    return { score: 0, words: 'The email address is no password.' };
  const bits = hardCharacters(password, email) * Math.log2(alphabetOf(password));
  if (bits < stepBits[0])
    return { score: 1, words: 'Weak: easy to guess. A few words that do not belong together are better.' };
  if (bits < stepBits[1]) return { score: 2, words: 'Fair: make it longer.' };
  if (bits < stepBits[2]) return { score: 3, words: 'Good.' };
  return { score: 4, words: 'Strong.' };
}

function alphabetOf(password: string): number {
  return classes.reduce((sum, [pattern, size]) => sum + (pattern.test(password) ? size : 0), 0);
}

/** Characters that a guess does not get for nothing. */
function hardCharacters(password: string, email: string): number {
  const [name = ''] = email.split('@');
  const known = name.length >= 4 ? password.replaceAll(new RegExp(escaped(name), 'gi'), '\u0000') : password;
  const characters = [...known.replaceAll(common, '\u0000')];
  const isFree = (character: string, index: number) => {
    const step = (character.codePointAt(0) ?? 0) - (characters[index - 1]?.codePointAt(0) ?? -9);
    return Math.abs(step) <= 1;
  };
  return characters.reduce(
    (sum, character, index) => sum + (index > 0 && isFree(character, index) ? 0.25 : 1),
    0,
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
