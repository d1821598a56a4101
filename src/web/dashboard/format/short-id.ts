export function shortId(text: string): string {
  return text.slice(-6);
}
