/** Fits files that are replaced, never changed: time and size identify the content. */
export function fileEtag(file: { readonly mtimeMs: number; readonly size: number }): string {
  return `"${Math.round(file.mtimeMs).toString(36)}-${file.size.toString(36)}"`;
}
