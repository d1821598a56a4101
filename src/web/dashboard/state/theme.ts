import { signal } from '@preact/signals';
import { readStored, writeStored } from './local-storage.ts';

/** How the dashboard looks; `system` follows the device. */
export type Theme = 'system' | 'light' | 'dark';

/** What was chosen in this browser. */
export const theme = signal<Theme>(storedTheme());

/** Changes how the dashboard looks, at once and for the next time. */
export function chooseTheme(next: Theme): void {
  theme.value = next;
  writeStored('theme', next === 'system' ? undefined : next);
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

function storedTheme(): Theme {
  const stored = readStored('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}
