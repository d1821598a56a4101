import { signal } from '@preact/signals';
import { readStored, writeStored } from './local-storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = signal<Theme>(storedTheme());

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
