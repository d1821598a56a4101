import { withBasePath } from '../../shared/base-path.ts';
import { asRecord, type PlayerTheme, parseTheme } from './player-theme.ts';

/** Accepts pages of this server only. */
export function onThemePreview(take: (theme: PlayerTheme) => void): void {
  if (parent === window) return;
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    const theme = parseTheme(asRecord(data)?.previewedTheme, withBasePath(''));
    if (theme !== undefined) take(theme);
  });
}
