/** Red, green and blue from 0 to 255, alpha from 0 to 1. */
interface Rgba {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

const rgbPattern =
  /^rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,\s*((?:0|1)?(?:\.\d{1,10})?)\s*)?\)$/i;
const hexPattern = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

/** Parses `rgba(88, 131, 255, .95)`, `rgb(…)`, `#5883ff`, `#5883fff2` and their short forms. */
export function parseColor(text: string): Rgba | undefined {
  const trimmed = text.trim();
  const [, red, green, blue, alpha] = rgbPattern.exec(trimmed) ?? [];
  if (red !== undefined) {
    const parts = [Number(red), Number(green), Number(blue)] as const;
    const opacity = alpha === undefined ? 1 : alpha === '' ? Number.NaN : Number(alpha);
    if (parts.some(part => part > 255) || !(opacity <= 1)) return undefined;
    return { red: parts[0], green: parts[1], blue: parts[2], alpha: opacity };
  }
  const [, digits = ''] = hexPattern.exec(trimmed) ?? [];
  if (digits === '') return undefined;
  const pairs = digits.length <= 4 ? [...digits].map(digit => digit + digit) : (digits.match(/../g) ?? []);
  const [r = 0, g = 0, b = 0, a = 255] = pairs.map(pair => Number.parseInt(pair, 16));
  return { red: r, green: g, blue: b, alpha: Math.round((a / 255) * 100) / 100 };
}

export function formatColor({ red, green, blue, alpha }: Rgba): string {
  const opacity = String(Math.round(alpha * 1000) / 1000).replace(/^0\./, '.');
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

export function hexOf({ red, green, blue }: Rgba): string {
  return `#${[red, green, blue].map(part => part.toString(16).padStart(2, '0')).join('')}`;
}

const black: Rgba = { red: 0, green: 0, blue: 0, alpha: 1 };
const white: Rgba = { red: 255, green: 255, blue: 255, alpha: 1 };

/** The worst contrast by WCAG 2.2, 1 to 21, of a text on a background over unknown video. */
export function worstContrast(text: Rgba, background: Rgba): number {
  const cases = [black, white].map(image => {
    const behind = blend(background, image);
    return { behind: luminance(behind), text: luminance(blend(text, behind)) };
  });
  const [dark, bright] = [cases[0]!, cases[1]!];
  // Some brightness in between equals that of the text.
  if (Math.sign(dark.text - dark.behind) !== Math.sign(bright.text - bright.behind)) return 1;
  return Math.min(...cases.map(one => contrast(one.text, one.behind)));
}

function blend(top: Rgba, bottom: Rgba): Rgba {
  const mix = (a: number, b: number) => a * top.alpha + b * (1 - top.alpha);
  return {
    red: mix(top.red, bottom.red),
    green: mix(top.green, bottom.green),
    blue: mix(top.blue, bottom.blue),
    alpha: 1,
  };
}

/** WCAG 2.2, "relative luminance". */
function luminance({ red, green, blue }: Rgba): number {
  const linear = (part: number) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** WCAG 2.2, "contrast ratio". */
function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
