/** The end of an id or token, which identifies what has no name. */
export function shortId(text: string): string {
  return text.slice(-6);
}
