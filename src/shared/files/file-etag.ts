/** The entity tag of a file that is only ever replaced: its time and size name its content. With its quotes. */
export function fileEtag(file: { readonly mtimeMs: number; readonly size: number }): string {
  return `"${Math.round(file.mtimeMs).toString(36)}-${file.size.toString(36)}"`;
}
