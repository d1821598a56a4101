import { z } from 'zod';

/** SQL and clients end a text at this character, so a text that has it would not be the same everywhere. */
const withoutNull = [
  (text: string) => !text.includes('\u0000'),
  'This value should not contain the character U+0000.',
] as const;

/** Any text of up to so many characters, also none. */
export function text(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .refine(...withoutNull);
}

/** A text of 1 to so many characters. */
export function nonEmptyText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine(...withoutNull);
}
