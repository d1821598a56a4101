import type { Placement } from '../../../../shared/limits/watermark-placement.ts';

/** `initial`: the size of the image, or the proportional size. */
export type LengthUnit = 'px' | '%' | 'initial';

export interface LengthDraft {
  readonly number: string;
  readonly unit: LengthUnit;
}

export type Corner = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';

export interface PlacementDraft {
  readonly corner: Corner;
  readonly x: LengthDraft;
  readonly y: LengthDraft;
  readonly width: LengthDraft;
  readonly height: LengthDraft;
  readonly opacity: string;
}

export const defaultDraft: PlacementDraft = {
  corner: 'bottom-right',
  x: { number: '3', unit: '%' },
  y: { number: '5', unit: '%' },
  width: { number: '15', unit: '%' },
  height: { number: '', unit: 'initial' },
  opacity: '80',
};

export function isNumber(text: string): boolean {
  return /^\d{1,5}(?:\.\d{1,3})?$/.test(text);
}

export function isOpacity(text: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) <= 100;
}

export function isComplete({ x, y, width, height, opacity }: PlacementDraft): boolean {
  return [x, y, width, height].every(isLength) && isOpacity(opacity);
}

export function isLength({ number, unit }: LengthDraft): boolean {
  return unit === 'initial' || isNumber(number);
}

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
