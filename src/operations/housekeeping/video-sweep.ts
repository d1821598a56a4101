import { existsSync } from 'node:fs';
import type { JobQueue } from '../../jobs/job.ts';
import { namesIn } from '../../storage/folder-names.ts';
import { type MediaFiles, removedPrefix } from '../../storage/media-files.ts';
import type { Orphan } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import type { SweepReport } from './sweep-report.ts';
import type { SweepThrottle } from './sweep-throttle.ts';
import {
  findingsOf,
  hasMissingFiles,
  isMediaFolder,
  isRepairable,
  type VideoRows,
} from './video-findings.ts';

/** What the check of videos is made with. */
export interface VideoSweepOptions {
  readonly store: SweepStore;
  readonly files: MediaFiles;
  /** Whether somebody else than a job writes into a video's folder. */
  readonly isBusy: (videoId: string) => boolean;
}

/** What a walk over all videos has found. */
export interface VideoSurvey {
  /** Videos that files should be there of. */
  readonly checked: number;
  /** Those of them that miss some. */
  readonly lost: number;
  readonly mendable: readonly string[];
  readonly left: readonly Orphan[];
}

const pageRows = 64;
/** What one sweep mends and removes; the next finds the rest. */
const maxFindings = 10_000;

/** Holds what is written down about videos against their folders. */
export class VideoSweep {
  readonly #options: VideoSweepOptions;

  constructor(options: VideoSweepOptions) {
    this.#options = options;
  }

  /** Looks at every video that no work goes on for. */
  async survey(pace: SweepThrottle): Promise<VideoSurvey> {
    const { store } = this.#options;
    const found = { checked: 0, lost: 0, mendable: [] as string[], left: [] as Orphan[] };
    for (let after = 0; ; ) {
      const page = store.videosAfter(after, pageRows);
      for (const { id, number } of page) {
        if (pace.isAborted) return found;
        after = number;
        await this.#check(id, found);
        await pace.pause();
      }
      if (page.length < pageRows) return found;
    }
  }

  /** Makes the rows of a video say what is there. `jobs` get what is to be made again. */
  async repair(videoId: string, report: SweepReport, jobs: JobQueue): Promise<void> {
    const { store, files } = this.#options;
    const listed = await this.#presentIn(videoId);
    // No await from here on: the rows and files are compared as they are now.
    const rows = store.rowsOf(videoId);
    if (rows === undefined || this.#isBusy(videoId)) return;
    const named = filesNamedBy(rows).filter(name => existsSync(files.video(videoId, name)));
    const findings = findingsOf(rows, new Set([...listed, ...named]));
    if (!isRepairable(findings)) return;
    store.repairVideo(videoId, findings, jobs);
    const nameOf = ({ type, quality }: { type: string; quality: string }) => `${type} ${quality}`;
    const { lostRenditions, foundRenditions, lostTracks, unfinished } = findings;
    report.repaired('video', {
      videoId,
      lost: [
        ...lostRenditions.map(nameOf),
        ...lostTracks.map(({ kind, language }) => `${kind} ${language}`),
        ...(findings.isThumbnailLost ? ['thumbnail'] : []),
        ...(findings.isStoryboardLost ? ['storyboard'] : []),
      ],
      ...(lostRenditions.length > 0 ? { isMadeAgain: findings.hasSource } : {}),
      ...(foundRenditions.length > 0 ? { foundAgain: foundRenditions.map(nameOf) } : {}),
      ...(unfinished === undefined ? {} : { withoutJob: unfinished, hasSource: findings.hasSource }),
    });
  }

  async #check(
    videoId: string,
    found: { checked: number; lost: number; mendable: string[]; left: Orphan[] },
  ): Promise<void> {
    const { store, files } = this.#options;
    if (this.#isBusy(videoId)) return;
    const present = await this.#presentIn(videoId);
    const rows = store.rowsOf(videoId);
    if (rows === undefined || this.#isBusy(videoId)) return;
    const findings = findingsOf(rows, present);
    if (filesNamedBy(rows).length > 0) found.checked += 1;
    if (hasMissingFiles(findings)) found.lost += 1;
    if (isRepairable(findings) && found.mendable.length < maxFindings) found.mendable.push(videoId);
    for (const name of findings.orphans) {
      if (found.left.length < maxFindings) {
        found.left.push({
          what: 'file-of-video',
          path: files.video(videoId, name),
          isNeeded: () => this.#isNeeded(videoId, name),
        });
      }
    }
    for (const name of present) {
      if (!name.startsWith(removedPrefix) || found.left.length >= maxFindings) continue;
      const path = files.video(videoId, name);
      found.left.push({ what: 'removal', path, isNeeded: () => false, isSetAside: true });
    }
  }

  #isNeeded(videoId: string, name: string): boolean {
    const rows = this.#options.store.rowsOf(videoId);
    if (rows === undefined || this.#isBusy(videoId)) return true;
    return !findingsOf(rows, new Set([name])).orphans.includes(name);
  }

  #isBusy(videoId: string): boolean {
    return this.#options.store.hasJob(videoId) || this.#options.isBusy(videoId);
  }

  /** Paths of what is in a video's folder, relative to it, as far as they may matter. */
  async #presentIn(videoId: string): Promise<Set<string>> {
    const { files } = this.#options;
    const present = new Set<string>();
    for (const name of await namesIn(files.video(videoId))) {
      present.add(name);
      if (!isMediaFolder(name)) continue;
      for (const inner of await namesIn(files.video(videoId, name))) present.add(`${name}/${inner}`);
    }
    return present;
  }
}

/** Every path that the rows of a video count on. */
function filesNamedBy(rows: VideoRows): string[] {
  const isComplete = rows.sourceStatus === 'uploaded' || rows.sourceStatus === 'ingested';
  return [
    ...(isComplete ? ['source'] : []),
    ...(rows.hasStoryboard ? ['storyboard.jpg', 'storyboard.vtt'] : []),
    ...(rows.thumbnail === undefined ? [] : [rows.thumbnail]),
    ...rows.tracks.map(({ file }) => file),
    ...rows.renditions.flatMap(({ file }) => {
      if (file === null) return [];
      if (!file.endsWith('.index')) return [file];
      return [file, file.slice(0, -'.index'.length), `${file.slice(0, file.lastIndexOf('/'))}/carried.mp4`];
    }),
  ];
}
