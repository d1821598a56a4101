import * as z from 'zod';

const isoDatePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Requires an offset. In a query, its `+` may have become a space. */
export function parseIsoDate(text: string): number | undefined {
  const date = text.replace(' ', '+');
  if (!isoDatePattern.test(date)) return undefined;
  const atMs = Date.parse(date);
  const day = date.slice(0, 10);
  // `Date` takes February 30 for March 2.
  const isDay = !Number.isNaN(atMs) && new Date(day).toISOString().startsWith(day);
  return isDay ? atMs : undefined;
}

/** A date with an offset, in a query. */
export const isoDate = z
  .string()
  .max(64)
  .superRefine((text, context) => {
    if (parseIsoDate(text) === undefined) context.addIssue({ code: 'invalid_format', format: 'datetime' });
  })
  .meta({ format: 'date-time' });
