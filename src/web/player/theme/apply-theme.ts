import type { PlayerTheme } from './player-theme.ts';

/** The colours of a theme and the variables of the style sheet that they set. */
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

/** Dresses the player in the colours of a theme alone: those that it does not name are as usual again. */
export function replaceColors(root: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const variable of Object.values(cssVariables)) root.style.removeProperty(variable);
  applyColors(root, colors);
}

/** Dresses the player in colours by the names of the API. Only names that are there and values that are colours count. */
export function applyColors(root: HTMLElement, colors: Readonly<Record<string, unknown>>): void {
  for (const [name, variable] of Object.entries(cssVariables)) {
    const color = colors[name];
    if (typeof color === 'string' && CSS.supports('color', color)) root.style.setProperty(variable, color);
  }
}

/** Shows the owner's logo, which may lead to their site. */
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
  link.setAttribute('aria-label', 'Visit the site of the owner');
  link.append(image);
  place.replaceChildren(link);
}
