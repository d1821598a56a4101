import { changedColors } from '../controls/theme-colors.ts';
import type { PlayerTheme } from './player-theme.ts';

const cssVariables: Readonly<Record<string, string>> = {
  text: '--text-color',
  link: '--link',
  linkHover: '--link-hover',
  linkActive: '--link-active',
  trackPlayed: '--track-played',
  trackUnplayed: '--track-loaded',
  trackBackground: '--track',
  backgroundTop: '--top-background',
  backgroundBottom: '--bar-background',
  backgroundText: '--title-color',
};

/** Resets colors that the theme does not name. */
export function replaceColors(root: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const variable of Object.values(cssVariables)) root.style.removeProperty(variable);
  applyColors(root, changedColors(colors));
}

/** Ignores unknown names and invalid colors. */
export function applyColors(root: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [name, variable] of Object.entries(cssVariables)) {
    const color = colors[name];
    if (typeof color === 'string' && CSS.supports('color', color)) root.style.setProperty(variable, color);
  }
}

export function showLogo(place: HTMLElement, logo: PlayerTheme['logo']): void {
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
  link.setAttribute('aria-label', 'Visit the owner’s site');
  link.append(image);
  place.replaceChildren(link);
}
