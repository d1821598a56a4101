import type { PlayerTheme } from '../theme/player-theme.ts';
import { changedColors, themeColors } from './theme-colors.ts';

/** Resets colors that the theme does not name or change. */
export function replaceColors(element: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [property] of Object.values(themeColors)) element.style.removeProperty(property);
  element.style.removeProperty('--millrace-accent');
  applyColors(element, changedColors(colors));
}

/** Ignores unknown names and invalid colors. The color of the played part is the accent. */
export function applyColors(element: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [name, [property]] of Object.entries(themeColors)) {
    const color = colors[name];
    if (typeof color !== 'string' || !CSS.supports('color', color)) continue;
    element.style.setProperty(property, color);
    if (name === 'trackPlayed') element.style.setProperty('--millrace-accent', color);
  }
}

export function showLogo(place: HTMLElement, logo: PlayerTheme['logo'], label: string): void {
  if (logo === undefined) {
    place.replaceChildren();
    return;
  }
  const image = new Image();
  image.src = logo.src;
  image.alt = '';
  if (logo.link === undefined) {
    place.replaceChildren(image);
    return;
  }
  const link = document.createElement('a');
  link.href = logo.link;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.setAttribute('aria-label', label);
  link.append(image);
  place.replaceChildren(link);
}
