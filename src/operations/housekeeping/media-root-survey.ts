import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { systemCodeOf } from '../../shared/errors.ts';
import { type MediaRoot, removedPrefix } from '../../storage/media-files.ts';
import type { SweepThrottle } from './sweep-throttle.ts';

/** What our own names look like in each folder; anything else is somebody else's. */
const namePatterns: Readonly<Record<MediaRoot, RegExp>> = {
  vod: /^vi[0-9A-Za-z]{22}$/,
  uploads: /^vi[0-9A-Za-z]{22}$/,
  live: /^li[0-9A-Za-z]{22}$/,
  players: /^pl[0-9A-Za-z]{22}$/,
  watermarks: /^watermark_[0-9A-Za-z]{22}$/,
};

/** All folders that things are kept in by their ids. */
export const mediaRoots = Object.keys(namePatterns) as MediaRoot[];

/** How many of the things in a folder belong to rows. */
export interface RootCounts {
  readonly owned: number;
  readonly orphans: number;
}

/** Orphans below which nothing seems wrong, whatever their share. */
const maxTrustedOrphans = 10;

/** Looks at every name in a folder of things; `onOrphan` gets those without a row, and what a removal left. */
export async function surveyRoot(
  root: { readonly kind: MediaRoot; readonly path: string; readonly isOwned: (id: string) => boolean },
  pace: SweepThrottle,
  onOrphan: (name: string) => void,
): Promise<RootCounts> {
  let owned = 0;
  let orphans = 0;
  for await (const { name } of entriesOf(root.path)) {
    if (pace.isAborted) break;
    await pace.pause();
    if (name.startsWith(removedPrefix)) onOrphan(name);
    if (!namePatterns[root.kind].test(name)) continue;
    if (root.isOwned(name)) {
      owned += 1;
      continue;
    }
    orphans += 1;
    onOrphan(name);
  }
  return { owned, orphans };
}

/**
 * Whether so much belongs to nobody that another database than that of these files is more likely. Of chunks alone nothing is told:
 * after a crash, all of them may be useless.
 */
export function looksForeign(counts: ReadonlyMap<MediaRoot, RootCounts>): boolean {
  const isMost = ({ owned, orphans }: RootCounts) => orphans > maxTrustedOrphans && orphans > owned;
  const all = { owned: 0, orphans: 0 };
  for (const [kind, one] of counts) {
    if (kind === 'uploads') continue;
    if (isMost(one)) return true;
    all.owned += one.owned;
    all.orphans += one.orphans;
  }
  return isMost(all);
}

/** Whether so many rows miss their files that their disk is more likely to be away. */
export function looksUnmounted(counts: { readonly lost: number; readonly checked: number }): boolean {
  return counts.lost > maxTrustedOrphans && counts.lost > counts.checked / 2;
}

async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(path, { bufferSize: 128 });
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
