/** Text as it is sorted by and searched in: without case or accents, so that `Été` is found by `ete`. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
}
