type Rgb = readonly [red: number, green: number, blue: number];

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
/** The surfaces of the pages on which contrast is lowest. */
const lightSurface: Rgb = [0xf2, 0xf5, 0xf6];
const darkSurface: Rgb = [0x21, 0x2b, 0x32];
/** **Source**: WCAG 2.2, 1.4.3 */
const minContrast = 4.5;
const steps = 50;

/** Writes a style sheet with the accent color, made darker or lighter until text in it can be read. @param hex such as `#0a7a66` */
export function accentStyles(hex: string): string {
  const color = parse(hex);
  const onLight = readable(color, black, lightSurface);
  const onDark = readable(color, white, darkSurface);
  return `:root{--brand:${format(color)};--accent-on-dark:${format(onDark)};--accent:light-dark(${format(onLight)},var(--accent-on-dark))}\n`;
}

function readable(color: Rgb, end: Rgb, surface: Rgb): Rgb {
  for (let step = 0; step < steps; step += 1) {
    const mixed = mix(color, end, step / steps);
    if (contrast(mixed, surface) >= minContrast) return mixed;
  }
  return end;
}

function mix(color: Rgb, end: Rgb, share: number): Rgb {
  const channel = (index: 0 | 1 | 2) => Math.round(color[index] + (end[index] - color[index]) * share);
  return [channel(0), channel(1), channel(2)];
}

/** **Source**: WCAG 2.2, "contrast ratio" */
export function contrast(a: Rgb, b: Rgb): number {
  const [lighter, darker] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map(value => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

export function parse(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(-6), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function format(color: Rgb): string {
  return `#${color.map(value => value.toString(16).padStart(2, '0')).join('')}`;
}
