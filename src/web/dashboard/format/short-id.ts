/** The end of an id or token: what those are told apart by that have no name. */
export function shortId(text: string): string {
  return text.slice(-6);
}
