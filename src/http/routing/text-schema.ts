import { z } from 'zod';

/** SQL and clients end texts at this character. */
const withoutNull = [
  (text: string) => !text.includes('\u0000'),
  'This value should not contain the character U+0000.',
] as const;

/** Schema of a text with a maximum length, which may be empty. */
export function text(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .refine(...withoutNull);
}

/** Schema of a text that is not empty. */
export function nonEmptyText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine(...withoutNull);
}
