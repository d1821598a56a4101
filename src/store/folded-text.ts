/** Removes case and accents for sorting and searching, so that `ete` finds `Été`. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
}
