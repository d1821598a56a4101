/** Returns the address of the page of a tag, below `/docs/`. */
export function referencePageName(tag: string): string {
  return `reference/${tag.toLowerCase().replaceAll(' ', '-')}`;
}
