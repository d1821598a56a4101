import type { Placement } from './placement.ts';

/** How a length is told; `initial`, for sizes: as large as the image is, or as the other side makes it. */
export type LengthUnit = 'px' | '%' | 'initial';

/** A length as it is being typed. */
export interface LengthDraft {
  readonly number: string;
  readonly unit: LengthUnit;
}

/** The corner that a watermark stands in. */
export type Corner = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';

/** A placement as it is being made. */
export interface PlacementDraft {
  readonly corner: Corner;
  /** From the left or right edge, and from the top or bottom one. */
  readonly x: LengthDraft;
  readonly y: LengthDraft;
  readonly width: LengthDraft;
  readonly height: LengthDraft;
  /** Percent. */
  readonly opacity: string;
}

/** A small mark in the corner where most have theirs. */
export const defaultDraft: PlacementDraft = {
  corner: 'bottom-right',
  x: { number: '3', unit: '%' },
  y: { number: '5', unit: '%' },
  width: { number: '15', unit: '%' },
  height: { number: '', unit: 'initial' },
  opacity: '80',
};

/** Whether a text is a number that the API takes in a length. */
export function isNumber(text: string): boolean {
  return /^\d{1,5}(?:\.\d{1,3})?$/.test(text);
}

/** Whether a text is a percentage of opacity that the API takes. */
export function isOpacity(text: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) <= 100;
}

/** Whether the API would take all of a draft. */
export function isComplete({ x, y, width, height, opacity }: PlacementDraft): boolean {
  return [x, y, width, height].every(isLength) && isOpacity(opacity);
}

/** Whether a length is one that the API takes. */
export function isLength({ number, unit }: LengthDraft): boolean {
  return unit === 'initial' || isNumber(number);
}

/** What the API is told; what is not a number yet, and what goes without saying, is left out. */
export function placementOf({ corner, x, y, width, height, opacity }: PlacementDraft): Placement {
  const [vertical, horizontal] = corner.split('-') as ['top' | 'bottom', 'left' | 'right'];
  const parts: [keyof Placement, string | undefined][] = [
    [vertical, textOf(y)],
    [horizontal, textOf(x)],
    ['width', textOf(width)],
    ['height', textOf(height)],
    ['opacity', isOpacity(opacity) && Number(opacity) < 100 ? `${opacity}%` : undefined],
  ];
  return Object.fromEntries(parts.filter(([, text]) => text !== undefined));
}

/**
 * The same length in another unit.
 *
 * @param wholePx what 100 % are
 * @param usualPx for a length that was `initial` before
 */
export function convertUnit(
  { number, unit }: LengthDraft,
  next: LengthUnit,
  wholePx: number,
  usualPx: number,
): LengthDraft {
  if (next === unit) return { number, unit };
  if (next === 'initial') return { number: '', unit: next };
  const pixels =
    unit === 'initial' || !isNumber(number)
      ? usualPx
      : unit === '%'
        ? (Number(number) / 100) * wholePx
        : Number(number);
  const value = next === 'px' ? Math.round(pixels) : Math.round((pixels / wholePx) * 1_000) / 10;
  return { number: String(value), unit: next };
}

function textOf(length: LengthDraft): string | undefined {
  return length.unit === 'initial' || !isNumber(length.number) ? undefined : length.number + length.unit;
}
