const isoDatePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Requires an offset. In a query, its `+` may have become a space. */
export function parseIsoDate(text: string): number | undefined {
  const date = text.replace(' ', '+');
  if (!isoDatePattern.test(date)) return undefined;
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? undefined : atMs;
}
