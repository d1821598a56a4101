import { z } from 'zod';

/** SQL and clients end texts at this character. */
const withoutNull = [
  (text: string) => !text.includes('\u0000'),
  'This value should not contain the character U+0000.',
] as const;

export function text(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .refine(...withoutNull);
}

export function nonEmptyText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine(...withoutNull);
}
