/** `ok: false` is answered with 400. */
type DeliveryDirectives =
  | {
      readonly ok: true;
      readonly msn?: number;
      /** Blocks only until this part of the segment is listed; from 0. */
      readonly part?: number;
      /** `v2` also without known date ranges. */
      readonly skip: 'no' | 'yes' | 'v2';
    }
  | { readonly ok: false; readonly reason: string };

/** Integers of up to 15 digits are exact. */
const DECIMAL_INTEGER = /^\d{1,15}$/;

/** Ignores other parameters. draft-pantos-hls-rfc8216bis-22, 6.2.5.1 and 6.2.5.2. */
export function parseDeliveryDirectives(query: URLSearchParams): DeliveryDirectives {
  const numbers: { msn?: number; part?: number } = {};
  for (const key of ['msn', 'part'] as const) {
    const [text, ...others] = query.getAll(`_HLS_${key}`);
    if (text === undefined) continue;
    if (others.length > 0) return { ok: false, reason: `_HLS_${key} is given more than once.` };
    if (!DECIMAL_INTEGER.test(text)) {
      return { ok: false, reason: `_HLS_${key} is not a decimal integer of at most 15 digits.` };
    }
    numbers[key] = Number(text);
  }
  if (numbers.part !== undefined && numbers.msn === undefined) {
    return { ok: false, reason: '_HLS_part is given without _HLS_msn.' };
  }
  const skip = query.get('_HLS_skip');
  return { ok: true, ...numbers, skip: skip === 'YES' ? 'yes' : skip === 'v2' ? 'v2' : 'no' };
}
