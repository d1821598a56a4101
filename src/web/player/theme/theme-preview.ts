import { asRecord, type PlayerTheme, parseTheme } from './player-theme.ts';

/** Hears the page around, if it is one of this server: there, a theme is shown before it is saved. Nobody else is heard. */
export function onThemePreview(take: (theme: PlayerTheme) => void): void {
  if (parent === window) return;
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    const theme = parseTheme(asRecord(data)?.previewedTheme);
    if (theme !== undefined) take(theme);
  });
}
