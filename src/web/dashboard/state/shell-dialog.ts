import { signal } from '@preact/signals';

/** Dialogs that open on every page. */
export type ShellDialog = 'search' | 'upload' | 'language' | 'browser' | 'encoder' | 'source';

export const shellDialog = signal<ShellDialog | undefined>(undefined);

export function openShellDialog(name: ShellDialog): void {
  shellDialog.value = name;
}
