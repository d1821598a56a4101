import { type PageTheme, record, themeOf } from './theme-value.ts';

/** Hears the page around, if it is one of this server: there, a theme is shown before it is saved. Nobody else is heard. */
export function hearPreviewedTheme(take: (theme: PageTheme) => void): void {
  if (parent === window) return;
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    const theme = themeOf(record(data)?.previewedTheme);
    if (theme !== undefined) take(theme);
  });
}
