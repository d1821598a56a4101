import { isEnglish } from '../state/texts.ts';
import { lowerFirst } from './lower-first.ts';

/** Returns a label as messages with `{name}` take it: inside a sentence in English, behind a colon elsewhere. */
export function inSentence(label: string): string {
  return isEnglish() ? lowerFirst(label) : label;
}
