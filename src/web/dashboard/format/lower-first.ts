/** Turns a label into a part of a sentence, and keeps abbreviations such as HLS. */
export function lowerFirst(text: string): string {
  return /^.\p{Lu}/u.test(text) ? text : `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
