import type { JobQueue } from '../../jobs/job.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';
import type { Connection, Transaction } from '../../store/connection.ts';
import type { Orphan } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import type { SweepRepairs } from './sweep-repairs.ts';
import type { SweepReport } from './sweep-report.ts';
import type { SweepStorage } from './sweep-storage.ts';
import type { SweepThrottle } from './sweep-throttle.ts';
import {
  findingsOf,
  hasMissingFiles,
  isRepairable,
  type VideoFindings,
  type VideoRows,
} from './video-findings.ts';

export interface VideoSweepOptions {
  readonly store: SweepStore;
  readonly files: MediaFiles;
  readonly isBusy: (videoId: string, connection?: Connection) => Promise<boolean>;
}

interface VideoSurvey {
  checked: number;
  missingCount: number;
  readonly repairable: string[];
  readonly orphans: Orphan[];
}

const pageRows = 64;
const maxFindings = 10_000;
const rebuildPriority = -1;

export class VideoSweep {
  readonly #options: VideoSweepOptions;
  readonly #storage: SweepStorage;

  constructor(options: VideoSweepOptions, storage: SweepStorage) {
    this.#options = options;
    this.#storage = storage;
  }

  async survey(throttle: SweepThrottle): Promise<VideoSurvey> {
    const survey: VideoSurvey = { checked: 0, missingCount: 0, repairable: [], orphans: [] };
    for (let after = 0; ; ) {
      const page = await this.#options.store.videosAfter(after, pageRows);
      for (const { id, number } of page) {
        if (throttle.isAborted) return survey;
        after = number;
        await this.#check(id, survey);
        await throttle.pause();
      }
      if (page.length < pageRows) return survey;
    }
  }

  async repair(
    videoId: string,
    { repairs, jobs, report }: { repairs: SweepRepairs; jobs: JobQueue; report: SweepReport },
  ): Promise<void> {
    const { store, files } = this.#options;
    const present = await this.#storage.filesOf(videoId);
    const findings = await repairs.transaction(async transaction => {
      const rows = await store.rowsOf(videoId, transaction);
      if (rows === undefined || (await this.#isBusy(videoId, transaction))) return undefined;
      // Stored since the listing.
      for (const name of filesNamedBy(rows)) {
        if (!present.has(name) && (await this.#storage.has(files.video(videoId, name)))) present.add(name);
      }
      const found = findingsOf(rows, present);
      if (!isRepairable(found)) return undefined;
      await repairRows(repairs, videoId, found, transaction);
      for (const kind of rebuildJobs(found)) {
        await jobs.add({ kind, subjectId: videoId, priority: rebuildPriority }, transaction);
      }
      return found;
    });
    if (findings === undefined) return;
    report.repaired('video', { videoId, ...reportData(findings) });
  }

  async orphansOf(videoId: string): Promise<readonly Orphan[]> {
    const survey: VideoSurvey = { checked: 0, missingCount: 0, repairable: [], orphans: [] };
    await this.#check(videoId, survey);
    return survey.orphans;
  }

  async #check(videoId: string, survey: VideoSurvey): Promise<void> {
    const { store, files } = this.#options;
    if (await this.#isBusy(videoId)) return;
    const present = await this.#storage.filesOf(videoId);
    const rows = await store.rowsOf(videoId);
    if (rows === undefined || (await this.#isBusy(videoId))) return;
    const findings = findingsOf(rows, present);
    if (filesNamedBy(rows).length > 0) survey.checked += 1;
    if (hasMissingFiles(findings)) survey.missingCount += 1;
    if (isRepairable(findings) && survey.repairable.length < maxFindings) survey.repairable.push(videoId);
    const orphans = [
      ...findings.orphans.map(name => ({
        what: 'file-of-video',
        path: files.video(videoId, name),
        isNeeded: () => this.#isNeeded(videoId, name),
      })),
      ...[...present]
        .filter(name => name.startsWith(removedPrefix))
        .map(name => ({
          what: 'removal',
          path: files.video(videoId, name),
          isNeeded: async () => false,
          isSetAside: true,
        })),
    ];
    survey.orphans.push(...orphans.slice(0, maxFindings - survey.orphans.length));
  }

  async #isNeeded(videoId: string, name: string): Promise<boolean> {
    const rows = await this.#options.store.rowsOf(videoId);
    if (rows === undefined || (await this.#isBusy(videoId))) return true;
    return !findingsOf(rows, new Set([name])).orphans.includes(name);
  }

  async #isBusy(videoId: string, connection?: Connection): Promise<boolean> {
    const { store, isBusy } = this.#options;
    return (await store.hasJob(videoId, connection)) || (await isBusy(videoId, connection));
  }
}

async function repairRows(
  repairs: SweepRepairs,
  videoId: string,
  findings: VideoFindings,
  transaction: Transaction,
): Promise<void> {
  const { lostRenditions, foundRenditions, unfinished, isStoryboardLost, hasSource } = findings;
  const repair = {
    lost: lostRenditions.map(({ type, quality, remake }) => ({
      type,
      quality,
      isRebuilt: remake !== undefined,
    })),
    lostCodecRenditions: findings.lostCodecRenditions,
    found: foundRenditions,
    isUnfinished: unfinished !== undefined,
    isStoryboardLost,
    hasSource,
  };
  await repairs.repairEncoding(videoId, repair, transaction);
  if (findings.isThumbnailLost) await repairs.clearVideoThumbnail(videoId, transaction);
  for (const track of findings.lostTracks) {
    await repairs.removeTextTrack(videoId, track, transaction);
  }
}

function rebuildJobs(findings: VideoFindings): Set<string> {
  const { hasSource } = findings;
  const kinds = new Set<string>(findings.lostRenditions.flatMap(({ remake }) => remake ?? []));
  if (findings.unfinished !== undefined && hasSource) kinds.add(findings.unfinished);
  if (hasSource) for (const { codec } of findings.lostCodecRenditions) kinds.add(codec);
  for (const codec of findings.unfinishedCodecs) kinds.add(codec);
  if (findings.isStoryboardLost && hasSource) kinds.add('stills');
  if (findings.isThumbnailLost && hasSource) kinds.add('frame');
  // Encoding ends with the MP4.
  if (kinds.has('encode')) kinds.delete('mp4');
  return kinds;
}

function reportData(findings: VideoFindings) {
  const { lostRenditions, lostCodecRenditions, foundRenditions, lostTracks, unfinished, hasSource } =
    findings;
  const nameOf = ({ type, quality }: { type: string; quality: string }) => `${type} ${quality}`;
  return {
    lost: [
      ...lostRenditions.map(nameOf),
      ...lostCodecRenditions.map(({ codec, quality }) => `${codec} ${quality}`),
      ...lostTracks.map(({ kind, language }) => `${kind} ${language}`),
      ...(findings.isThumbnailLost ? ['thumbnail'] : []),
      ...(findings.isStoryboardLost ? ['storyboard'] : []),
    ],
    ...(lostRenditions.length > 0 ? { isRebuilt: hasSource } : {}),
    ...(foundRenditions.length > 0 ? { found: foundRenditions.map(nameOf) } : {}),
    ...(unfinished === undefined ? {} : { withoutJob: unfinished, hasSource }),
  };
}

function filesNamedBy(rows: VideoRows): string[] {
  const isComplete = rows.sourceStatus === 'uploaded' || rows.sourceStatus === 'ingested';
  return [
    ...(isComplete ? ['source'] : []),
    ...(rows.hasStoryboard ? ['storyboard.jpg', 'storyboard.vtt'] : []),
    ...(rows.thumbnail === undefined ? [] : [rows.thumbnail]),
    ...rows.tracks.map(({ file }) => file),
    ...[...rows.renditions, ...rows.codecRenditions].flatMap(({ file }) => {
      if (file === null) return [];
      if (!file.endsWith('.index')) return [file];
      return [file, file.slice(0, -'.index'.length), `${file.slice(0, file.lastIndexOf('/'))}/carried.mp4`];
    }),
  ];
}
