import type { PlayerTheme } from '../theme/player-theme.ts';

/** Custom property and default of each color of a theme in the API. A color that nobody changed leaves the look as it is. */
export const themeColors: Readonly<Record<string, readonly [property: string, unchanged: string]>> = {
  text: ['--millrace-text', 'rgba(255, 255, 255, 1)'],
  link: ['--millrace-link', 'rgba(255, 255, 255, 1)'],
  linkHover: ['--millrace-link-hover', 'rgba(255, 255, 255, 1)'],
  linkActive: ['--millrace-link-active', 'rgba(255, 255, 255, 1)'],
  trackPlayed: ['--millrace-track-played', 'rgba(88, 131, 255, .95)'],
  trackUnplayed: ['--millrace-track-unplayed', 'rgba(255, 255, 255, .35)'],
  trackBackground: ['--millrace-track-background', 'rgba(255, 255, 255, .2)'],
  backgroundTop: ['--millrace-background-top', 'rgba(0, 0, 0, .7)'],
  backgroundBottom: ['--millrace-background-bottom', 'rgba(0, 0, 0, .7)'],
  backgroundText: ['--millrace-background-text', 'rgba(255, 255, 255, 1)'],
};

/** Resets colors that the theme does not name. */
export function replaceColors(element: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [property] of Object.values(themeColors)) element.style.removeProperty(property);
  element.style.removeProperty('--millrace-accent');
  applyColors(element, colors);
}

/** Ignores unknown names and invalid colors. The color of the played part is the accent. */
export function applyColors(element: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [name, [property, unchanged]] of Object.entries(themeColors)) {
    const color = colors[name];
    if (typeof color !== 'string' || color === unchanged || !CSS.supports('color', color)) continue;
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
