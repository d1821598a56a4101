/** Custom property and default of each color of a theme in the API. */
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

/** Leaves out colors that nobody changed: they leave the player its own look. */
export function changedColors(colors: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(colors).filter(([name, color]) => color !== themeColors[name]?.[1]),
  );
}
