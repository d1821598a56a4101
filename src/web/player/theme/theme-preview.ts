import { asRecord, type PlayerTheme, parseTheme } from './player-theme.ts';

/** Listens for themes from pages of this server, where they are previewed before they are saved. */
export function onThemePreview(take: (theme: PlayerTheme) => void): void {
  if (parent === window) return;
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    const theme = parseTheme(asRecord(data)?.previewedTheme);
    if (theme !== undefined) take(theme);
  });
}
