/** What watermarks are told apart by: they have no names, so it is the end of their id. */
export function endingOf(watermarkId: string): string {
  return watermarkId.slice(-6);
}
