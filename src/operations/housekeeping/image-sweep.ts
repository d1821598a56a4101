import { existsSync } from 'node:fs';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles, MediaRoot } from '../../storage/media-files.ts';
import { looksUnmounted } from './media-root-survey.ts';
import type { Orphan } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import type { SweepReport } from './sweep-report.ts';
import type { SweepThrottle } from './sweep-throttle.ts';

/** What a walk over logos, images of live streams and watermarks has found. */
export interface ImageSurvey {
  /** The number of images that are missing. */
  readonly lost: number;
  readonly orphans: readonly Orphan[];
  /** Whether so many images are missing, or all of a kind with their folder, that their disk is more likely to be away. */
  readonly isSuspicious: boolean;
  /** Makes the rows say what is there. */
  readonly repair: (report: SweepReport) => void;
}

interface MissingImage {
  readonly isStillMissing: () => boolean;
  readonly clearReference: () => void;
  readonly what: string;
  readonly id: string;
}

const pageRows = 64;
const maxFindings = 10_000;
const logoName = /^logo-[0-9a-f-]{36}\.\w+$/;
const thumbnail = 'thumbnail';

/** Looks at the images of everything that is no video. */
export async function surveyImages(
  store: SweepStore,
  files: MediaFiles,
  pace: SweepThrottle,
): Promise<ImageSurvey> {
  const orphans: Orphan[] = [];
  const lost: MissingImage[] = [];
  let checked = 0;
  let isFolderAway = false;
  const miss = (root: MediaRoot, image: MissingImage) => {
    // Nothing removes it once it was made.
    isFolderAway ||= !existsSync(files.root(root));
    if (lost.length < maxFindings) lost.push(image);
  };
  const leave = (orphan: Orphan) => orphans.length < maxFindings && orphans.push(orphan);

  await walk(
    pace,
    after => store.playersAfter(after, pageRows),
    ({ id }) => id,
    async ({ id, logo_file: logo }) => {
      const names = await namesIn(files.player(id));
      const isLogo = (name: string) => store.logoOf(id) === name;
      for (const name of names) {
        if (name === logo || !logoName.test(name)) continue;
        leave({ what: 'logo', path: files.player(id, name), isNeeded: () => isLogo(name) });
      }
      if (logo === null) return;
      checked += 1;
      if (names.includes(logo)) return;
      const isStillMissing = () => isLogo(logo) && !existsSync(files.player(id, logo));
      miss('players', {
        what: 'player',
        id,
        isStillMissing,
        clearReference: () => store.forgetLogo(id),
      });
    },
  );
  await walk(
    pace,
    after => store.liveStreamsAfter(after, pageRows),
    ({ id }) => id,
    async ({ id, hasThumbnail }) => {
      const path = files.live(id, thumbnail);
      const isThere = (await namesIn(files.live(id))).includes(thumbnail);
      const isNamed = () => store.hasLiveThumbnail(id);
      if (isThere && !hasThumbnail) leave({ what: 'live-thumbnail', path, isNeeded: isNamed });
      if (!hasThumbnail) return;
      checked += 1;
      if (isThere) return;
      const isStillMissing = () => isNamed() && !existsSync(path);
      miss('live', {
        what: 'live-stream',
        id,
        isStillMissing,
        clearReference: () => store.forgetLiveThumbnail(id),
      });
    },
  );
  await walk(
    pace,
    after => store.watermarksAfter(after, pageRows),
    id => id,
    async id => {
      checked += 1;
      const path = files.watermark(id);
      if (existsSync(path)) return;
      const isStillMissing = () => store.hasOwner('watermarks', id) && !existsSync(path);
      miss('watermarks', {
        what: 'watermark',
        id,
        isStillMissing,
        clearReference: () => store.forgetWatermark(id),
      });
    },
  );
  return {
    orphans,
    lost: lost.length,
    isSuspicious: isFolderAway || looksUnmounted({ lost: lost.length, checked }),
    repair: report => {
      for (const { what, id, isStillMissing, clearReference } of lost) {
        if (!isStillMissing()) continue;
        clearReference();
        report.repaired(what, { id, lost: ['image'] });
      }
    },
  };
}

async function walk<Row>(
  pace: SweepThrottle,
  next: (after: string) => Row[],
  idOf: (row: Row) => string,
  look: (row: Row) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; ) {
    const page = next(after);
    for (const row of page) {
      if (pace.isAborted) return;
      after = idOf(row);
      await look(row);
      await pace.pause();
    }
    if (page.length < pageRows) return;
  }
}
