/** Returns the quoted entity tag of a file that is replaced, never changed: its time and size identify its content. */
export function fileEtag(file: { readonly mtimeMs: number; readonly size: number }): string {
  return `"${Math.round(file.mtimeMs).toString(36)}-${file.size.toString(36)}"`;
}
