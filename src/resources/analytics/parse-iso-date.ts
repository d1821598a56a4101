const isoDatePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Milliseconds since 1970 of an ISO 8601 date with its offset, of which a query may have made the `+` a space; undefined for anything else. */
export function parseIsoDate(text: string): number | undefined {
  const date = text.replace(' ', '+');
  if (!isoDatePattern.test(date)) return undefined;
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? undefined : atMs;
}
