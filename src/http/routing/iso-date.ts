import * as z from 'zod';

const isoDatePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Requires an offset. In a query, its `+` may have become a space. */
export function parseIsoDate(text: string): number | undefined {
  const date = text.replace(' ', '+');
  if (!isoDatePattern.test(date)) return undefined;
  const atMs = Date.parse(date);
  const day = date.slice(0, 10);
  // `Date` takes February 30 for March 2.
  const isDay = !Number.isNaN(atMs) && !isOutside(atMs) && new Date(day).toISOString().startsWith(day);
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

/** A date with an offset, in a body, as milliseconds since 1970. */
export const isoDateTime = z.iso
  .datetime({ offset: true })
  .superRefine((text, context) => {
    // Tells nothing of a text that is no date.
    if (isOutside(Date.parse(text))) context.addIssue({ code: 'invalid_format', format: 'datetime' });
  })
  .transform(text => Date.parse(text));

/** The offset of a date on the first or last day of the calendar may lead to a year that has no four digits. */
function isOutside(atMs: number): boolean {
  return atMs < firstMs || atMs > lastMs;
}
