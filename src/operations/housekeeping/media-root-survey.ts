import type { MediaRoot } from '../../storage/media-files.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';
import type { SweepThrottle } from './sweep-throttle.ts';

/** Names that this server gives in each folder. Others are ignored. */
const namePatterns: Readonly<Record<MediaRoot, RegExp>> = {
  vod: /^vi[0-9A-Za-z]{22}$/,
  uploads: /^vi[0-9A-Za-z]{22}$/,
  live: /^li[0-9A-Za-z]{22}$/,
  players: /^pl[0-9A-Za-z]{22}$/,
  watermarks: /^watermark_[0-9A-Za-z]{22}$/,
};

export const mediaRoots = Object.keys(namePatterns) as MediaRoot[];

export interface RootCounts {
  readonly owned: number;
  readonly orphans: number;
}

/** Normal, whatever their share. */
const maxTrustedOrphans = 10;

export async function surveyRoot(
  root: {
    readonly kind: MediaRoot;
    readonly names: AsyncIterable<string>;
    readonly isOwned: (id: string) => Promise<boolean>;
  },
  pace: SweepThrottle,
  onOrphan: (name: string) => void,
): Promise<RootCounts> {
  let owned = 0;
  let orphans = 0;
  for await (const name of root.names) {
    if (pace.isAborted) break;
    await pace.pause();
    if (name.startsWith(removedPrefix)) onOrphan(name);
    if (!namePatterns[root.kind].test(name)) continue;
    if (await root.isOwned(name)) {
      owned += 1;
      continue;
    }
    orphans += 1;
    onOrphan(name);
  }
  return { owned, orphans };
}

/** Probably another database's files. Ignores uploads, which a crash can make useless all at once. */
export function looksForeign(counts: ReadonlyMap<MediaRoot, RootCounts>): boolean {
  const areMostOrphans = ({ owned, orphans }: RootCounts) => orphans > maxTrustedOrphans && orphans > owned;
  const all = { owned: 0, orphans: 0 };
  for (const [kind, one] of counts) {
    if (kind === 'uploads') continue;
    if (areMostOrphans(one)) return true;
    all.owned += one.owned;
    all.orphans += one.orphans;
  }
  return areMostOrphans(all);
}

/** Tells whether so many rows miss their files that the disk is probably not mounted. */
export function looksUnmounted(counts: { readonly missingCount: number; readonly checked: number }): boolean {
  return counts.missingCount > maxTrustedOrphans && counts.missingCount > counts.checked / 2;
}
