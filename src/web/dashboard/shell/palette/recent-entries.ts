import { readStored, writeStored } from '../../state/local-storage.ts';
import { projectKey, session } from '../../state/session.ts';
import type { PaletteEntry } from './entry.ts';

interface StoredEntry extends Pick<PaletteEntry, 'id' | 'label' | 'detail' | 'icon' | 'href'> {
  /** The environment and project that have it. */
  readonly place: string;
}

const maxRecent = 5;

/** Returns what was chosen last. @param known entries of everybody, by which those that one may use are found again */
export function recentEntries(known: readonly PaletteEntry[]): readonly PaletteEntry[] {
  return stored().flatMap((entry): readonly PaletteEntry[] => {
    if (entry.href !== undefined && entry.place === projectKey.peek()) return [entry];
    return known.filter(({ id }) => id === entry.id);
  });
}

/** Only media are remembered with their titles: everything else is found again, in the words of that version. */
export function rememberEntry(entry: PaletteEntry): void {
  const { id, label, detail, icon, href } = entry;
  const isMedia = /^(?:video|live):/.test(id);
  const kept = { id, label, detail, icon, ...(isMedia ? { href } : {}), place: projectKey.peek() };
  const all = [kept, ...stored().filter(one => one.id !== id)].slice(0, maxRecent);
  writeStored(storageName(), JSON.stringify(all));
}

function stored(): StoredEntry[] {
  try {
    const all = JSON.parse(readStored(storageName()) ?? '[]') as unknown;
    return Array.isArray(all) ? (all as StoredEntry[]).filter(({ id }) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

function storageName(): string {
  return `recent ${session.peek()?.account.accountId ?? ''}`;
}
