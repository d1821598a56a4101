import type { MediaFiles, MediaRoot } from '../../storage/media-files.ts';
import { looksUnmounted } from './media-root-survey.ts';
import type { Orphan } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import type { SweepRepairs } from './sweep-repairs.ts';
import type { SweepReport } from './sweep-report.ts';
import type { SweepStorage } from './sweep-storage.ts';
import type { SweepThrottle } from './sweep-throttle.ts';

interface ImageSurvey {
  readonly missingCount: number;
  readonly orphans: readonly Orphan[];
  /** The disk is probably not mounted: too many images are missing. */
  readonly isSuspicious: boolean;
  readonly repair: (repairs: SweepRepairs, report: SweepReport) => Promise<void>;
}

interface MissingImage {
  readonly isStillMissing: () => Promise<boolean>;
  readonly clearReference: (repairs: SweepRepairs) => Promise<void>;
  readonly what: string;
  readonly id: string;
}

const pageRows = 64;
const maxFindings = 10_000;
const logoName = /^logo-[0-9a-f-]{36}\.\w+$/;
const thumbnail = 'thumbnail';

export async function surveyImages(
  store: SweepStore,
  { files, storage }: { readonly files: MediaFiles; readonly storage: SweepStorage },
  throttle: SweepThrottle,
): Promise<ImageSurvey> {
  const orphans: Orphan[] = [];
  const missing: MissingImage[] = [];
  let checked = 0;
  const rootsOfMissing = new Set<MediaRoot>();
  const addMissing = (root: MediaRoot, image: MissingImage) => {
    rootsOfMissing.add(root);
    if (missing.length < maxFindings) missing.push(image);
  };
  const addOrphan = (orphan: Orphan) => orphans.length < maxFindings && orphans.push(orphan);

  for await (const { id, logo_file: logo } of pages(throttle, store.playersAfter.bind(store))) {
    const names = await storage.namesIn(files.player(id));
    const isLogo = async (name: string) => (await store.logoOf(id)) === name;
    for (const name of names) {
      if (name === logo || !logoName.test(name)) continue;
      addOrphan({ what: 'logo', path: files.player(id, name), isNeeded: () => isLogo(name) });
    }
    if (logo === null) continue;
    checked += 1;
    if (names.includes(logo)) continue;
    const isStillMissing = async () => (await isLogo(logo)) && !(await storage.has(files.player(id, logo)));
    const clearReference = (repairs: SweepRepairs) => repairs.clearLogo(id);
    addMissing('players', { what: 'player', id, isStillMissing, clearReference });
  }
  for await (const { id, hasThumbnail } of pages(throttle, store.liveStreamsAfter.bind(store))) {
    const path = files.live(id, thumbnail);
    const isPresent = await storage.has(path);
    const isNeeded = () => store.hasLiveThumbnail(id);
    if (isPresent && !hasThumbnail) addOrphan({ what: 'live-thumbnail', path, isNeeded });
    if (!hasThumbnail) continue;
    checked += 1;
    if (isPresent) continue;
    const isStillMissing = async () => (await isNeeded()) && !(await storage.has(path));
    const clearReference = (repairs: SweepRepairs) => repairs.clearLiveThumbnail(id);
    addMissing('live', { what: 'live-stream', id, isStillMissing, clearReference });
  }
  for await (const { id } of pages(throttle, store.watermarksAfter.bind(store))) {
    checked += 1;
    const path = files.watermark(id);
    if (await storage.has(path)) continue;
    const isStillMissing = async () => (await store.hasOwner('watermarks', id)) && !(await storage.has(path));
    const clearReference = (repairs: SweepRepairs) => repairs.removeWatermark(id);
    addMissing('watermarks', { what: 'watermark', id, isStillMissing, clearReference });
  }
  // Checks the folders, which are never removed once they exist.
  let isFolderMissing = false;
  for (const root of rootsOfMissing) isFolderMissing ||= !(await storage.hasRoot(root));
  return {
    orphans,
    missingCount: missing.length,
    isSuspicious: isFolderMissing || looksUnmounted({ missingCount: missing.length, checked }),
    repair: async (repairs, report) => {
      for (const { what, id, isStillMissing, clearReference } of missing) {
        if (!(await isStillMissing())) continue;
        await clearReference(repairs);
        report.repaired(what, { id, lost: ['image'] });
      }
    },
  };
}

async function* pages<Row extends { readonly id: string }>(
  throttle: SweepThrottle,
  next: (after: string, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let after = ''; ; ) {
    const page = await next(after, pageRows);
    for (const row of page) {
      if (throttle.isAborted) return;
      after = row.id;
      yield row;
      await throttle.pause();
    }
    if (page.length < pageRows) return;
  }
}
