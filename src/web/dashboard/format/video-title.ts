/** What a video is called; it may have no title. */
export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Untitled video' : title;
}
