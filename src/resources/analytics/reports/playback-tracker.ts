import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { dayOf } from '../../../shared/day.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';
import { RecentLookups } from '../../../shared/recent-lookups.ts';
import { OnDemandInterval } from '../../../shared/scheduling/on-demand-interval.ts';
import { TokenBuckets } from '../../../shared/token-buckets.ts';
import type {
  AnalyticsWritesStore,
  PlaybackContext,
  PlaybackUpdate,
  StoredPlayback,
} from './analytics-writes.store.ts';
import { DeviceParser } from './device-parser.ts';
import type { GeoLookup } from './geo-lookup.ts';
import { applyReport, type OpenPlayback, type TimedReport, weightOf } from './open-playback.ts';
import { type CollectedPlayback, Playback, slotSeconds } from './playback.ts';
import type { PlaybackReport } from './playback-report.ts';

export interface WatchedMedia {
  readonly projectId: string;
  readonly type: 'video' | 'live-stream';
}

/** Returns the viewer that a valid signed token for this video or live stream names. */
export type ViewerOf = (
  token: string,
  media: { readonly id: string; readonly projectId: string },
) => Promise<string | undefined>;

interface PlaybackTrackerOptions {
  readonly writes: Pick<AnalyticsWritesStore, 'find' | 'saltOf' | 'write' | 'writeSums'>;
  readonly geo: Pick<GeoLookup, 'load' | 'locate'>;
  readonly findMedia: (mediaId: string) => Promise<WatchedMedia | undefined>;
  readonly viewerOf: ViewerOf;
  /** 0 for no limit. */
  readonly reportsPerMinute: number;
  /** The next report of a playback may reach another server. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** 100,000 unless given. */
  readonly maxOpenPlaybacks?: number;
  /** 500,000 unless given. */
  readonly maxKeptEvents?: number;
}

export interface ReportSender {
  readonly address: string;
  readonly userAgent: string;
}

interface Collected extends PlaybackUpdate {
  readonly open: OpenPlayback;
  readonly reports: readonly TimedReport[];
}

/**
 * Playbacks that go on are written in turn: each less often the more there are. A crash loses at most what came since, and
 * the counts until the next write of all.
 */
const writeDelayMs = { min: 1_000, perPlayback: 6, max: 60_000 };
/** Delay of new playbacks, and of those whose reports reach several servers. */
const soonDelayMs = { min: 200, perPlayback: 1, max: 1_000 };
/** Players report every five to ten seconds. Later reports read their playback from the database. */
const idleTimeoutMs = 120_000;
/** A viewer without reports for so long has left. */
const silenceMs = 30_000;
const sweepIntervalMs = 10_000;
const maxEvictedPerSweep = 5_000;
/** Bounds what a single report costs while all are open that can be. */
const maxEvictionLooks = 100;
const maxOpenPlaybacks = 100_000;
const playbacksPerBatch = 200;
const maxLastWrites = 3;
/** Reports and their events that are kept in case another server stores their playback. More replace those of the same playback. */
const maxKeptEvents = 500_000;
const maxTrackedAddresses = 50_000;
const maxTrackedMedia = 50_000;
/**
 * Limits of new playbacks. Many viewers start a live stream in the same minute, but one address never starts so
 * many.
 */
const newPlaybacksPerMinute = { ofMedia: 30_000, ofAddress: 3_000 };

/**
 * Keeps the playbacks of the last minutes, and writes them in batches, so that no report waits for the database.
 *
 * In a cluster, the server that gets the reports of a playback keeps it. A write is a compare-and-set: when another server has
 * stored the playback meanwhile, this server reads it again and replays the reports since its own last write.
 */
export class PlaybackTracker implements Component {
  readonly name = 'playbacks';
  readonly #options: PlaybackTrackerOptions;
  readonly #devices = new DeviceParser();
  readonly #reports: TokenBuckets;
  readonly #newByMedia: TokenBuckets;
  readonly #newByAddress: TokenBuckets;
  /** Least recently reported first. */
  readonly #open = new Map<string, OpenPlayback>();
  #changed = new Set<OpenPlayback>();
  readonly #media: RecentLookups<WatchedMedia>;
  /** Tells its own writes from those of other servers, and of former runs. */
  readonly #writer = randomBase62(8);
  #soon = new Set<OpenPlayback>();
  #soonTimer: NodeJS.Timeout | undefined;
  #keptEvents = 0;
  /** The last write of the counts that are common to many viewers failed. */
  #hasUnwrittenSums = false;
  #salt: { readonly day: number; readonly bytes: Buffer } | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #sweeps = new OnDemandInterval(sweepIntervalMs, () => {
    this.#evictIdle();
    return this.#open.size > 0;
  });
  #writing: Promise<void> = Promise.resolve();
  /** True while other servers go on with its playbacks. */
  #isLeaving = false;
  #isStopped = false;

  constructor(options: PlaybackTrackerOptions) {
    const { clock, reportsPerMinute } = options;
    this.#options = options;
    this.#media = new RecentLookups(options.findMedia, clock);
    this.#reports = new TokenBuckets({
      perMinute: reportsPerMinute,
      burst: Math.ceil(reportsPerMinute / 4),
      maxNames: maxTrackedAddresses,
      clock,
    });
    const { ofMedia, ofAddress } = newPlaybacksPerMinute;
    this.#newByMedia = new TokenBuckets({
      perMinute: ofMedia,
      burst: ofMedia,
      maxNames: maxTrackedMedia,
      clock,
    });
    this.#newByAddress = new TokenBuckets({
      perMinute: reportsPerMinute === 0 ? 0 : ofAddress,
      burst: ofAddress,
      maxNames: maxTrackedAddresses,
      clock,
    });
  }

  async start(): Promise<void> {}

  /** Writes all, so that other servers can go on with what this one knows. */
  async drain(): Promise<void> {
    this.#isLeaving = this.#options.isShared;
    await this.#flushAll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sweeps.stop();
    clearTimeout(this.#soonTimer);
    clearTimeout(this.#timer);
    await this.#flushAll();
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Events that are kept in case another server stores their playback. */
  get keptEvents(): number {
    return this.#keptEvents;
  }

  /** Ignores reports of unknown media. @throws AppError `too-many-requests` */
  async handle(report: PlaybackReport, sender: ReportSender): Promise<void> {
    if (!this.#reports.take(clientNetwork(sender.address))) throw new AppError('too-many-requests');
    const open = await this.#findOrOpen(report, sender);
    if (open === undefined || this.#isStopped) return;
    const { isShared, clock } = this.#options;
    const { events, sentMs } = report;
    const timed: TimedReport = { report: { events, sentMs }, nowMs: clock.nowMs() };
    applyReport(open.playback, timed);
    if (isShared) this.#keep(open, timed);
    if (!isShared && !open.playback.hasUpdates) return;
    if (open.stored === undefined || open.isRoaming || this.#isLeaving) this.#writeSoon(open);
    else this.#writeLater(open);
  }

  /** Writes everything. */
  async flush(): Promise<void> {
    await this.#enqueue(async () => {
      // Cleared only now, so that no more flushes wait behind one that takes long.
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#collectSilent();
      const changed = this.#changed;
      this.#changed = new Set();
      this.#soon.clear();
      this.#hasUnwrittenSums = true;
      await this.#write([...changed], true);
      await this.#options.writes.writeSums();
      this.#hasUnwrittenSums = false;
      this.#evictIdle();
    });
    if (this.#hasUnwrittenSums) this.#scheduleFlush();
  }

  /** Repeats what another server has changed meanwhile, or could not be written. */
  async #flushAll(): Promise<void> {
    for (let tries = 0; tries < maxLastWrites; tries += 1) {
      await this.flush();
      if (this.#changed.size === 0 && !this.#hasUnwrittenSums) return;
    }
  }

  /** The counts of many viewers are written with all, because their rows are common to many servers. */
  async #flushSoon(): Promise<void> {
    await this.#enqueue(async () => {
      this.#soonTimer = undefined;
      const soon = this.#soon;
      this.#soon = new Set();
      for (const open of soon) this.#changed.delete(open);
      await this.#write([...soon], this.#delayMs(writeDelayMs) === writeDelayMs.min);
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing
      .then(work)
      .catch(error => this.#options.log.error('playbacks-not-written', { error }));
    return this.#writing;
  }

  #delayMs({ min, perPlayback, max }: typeof writeDelayMs): number {
    return Math.max(min, Math.min(max, this.#open.size * perPlayback));
  }

  #writeLater(open: OpenPlayback): void {
    this.#changed.add(open);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#isStopped) return;
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs(writeDelayMs));
  }

  #writeSoon(open: OpenPlayback): void {
    this.#writeLater(open);
    const delayMs = this.#options.isShared ? this.#delayMs(soonDelayMs) : writeDelayMs.min;
    if (this.#isStopped || delayMs >= this.#delayMs(writeDelayMs)) return;
    this.#soon.add(open);
    this.#soonTimer ??= setTimeout(() => void this.#flushSoon(), delayMs);
  }

  async #write(changed: readonly OpenPlayback[], withSums: boolean): Promise<void> {
    // Rows of counts that many batches lock hold up other servers.
    const isAtOnce = !this.#options.isShared || (withSums && changed.length <= playbacksPerBatch);
    for (let first = 0; first < changed.length; first += playbacksPerBatch) {
      const some = changed.slice(first, first + playbacksPerBatch);
      if (await this.#writeBatch(some, isAtOnce)) continue;
      for (const open of changed.slice(first + playbacksPerBatch)) this.#writeLater(open);
      return;
    }
  }

  async #writeBatch(batch: readonly OpenPlayback[], withSums: boolean): Promise<boolean> {
    const { writes, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    const updates = batch.map(open => this.#collect(open, nowMs));
    let written: Awaited<ReturnType<AnalyticsWritesStore['write']>>;
    try {
      written = await writes.write(updates, nowMs, withSums);
    } catch (error) {
      log.error('playbacks-not-written', { count: updates.length, error });
      for (const { open, reports, ...collected } of updates) this.#putBack(open, reports, collected);
      return false;
    }
    for (const { open, state, reports } of updates) {
      const number = written.get(open.name);
      if (number === 'changed') await this.#catchUp(open, reports);
      else if (number === undefined) this.#forget(open, reports);
      else {
        open.stored = { number, state };
        this.#release(reports);
        if ((open.isRoaming || this.#isLeaving) && !this.#changed.has(open)) this.#forget(open, []);
      }
    }
    return true;
  }

  #collect(open: OpenPlayback, nowMs: number): Collected {
    const { key, context, playback, stored, reports } = open;
    const delayMs = this.#delayMs(writeDelayMs);
    const slotMs = slotSeconds * 1_000;
    const isKept = !open.isRoaming && !this.#isStopped && !this.#isLeaving && delayMs > slotMs;
    const isSilent = this.#isSilent(open);
    const collected = playback.collect(isKept && !isSilent ? Math.ceil(delayMs / slotMs) + 1 : 0);
    const progress = this.#options.isShared
      ? { ...playback.progress, viewerId: context['viewer-id'], writer: this.#writer, writtenAtMs: nowMs }
      : undefined;
    open.reports = [];
    return { open, key, context, stored, progress, reports, ...collected };
  }

  /** A write that failed is repeated with the next one. */
  #putBack(open: OpenPlayback, reports: readonly TimedReport[], collected: CollectedPlayback): void {
    open.playback.putBack(collected);
    open.reports = [...reports, ...open.reports];
    this.#writeLater(open);
  }

  /** Goes on from what another server has stored. */
  async #catchUp(open: OpenPlayback, reports: readonly TimedReport[]): Promise<void> {
    const { writes, clock, log } = this.#options;
    let stored: StoredPlayback | undefined;
    try {
      stored = await writes.find(open.key);
    } catch (error) {
      log.error('playback-not-read', { error });
      open.reports = [...reports, ...open.reports];
      this.#writeLater(open);
      return;
    }
    const missed = [...reports, ...open.reports];
    if (stored === undefined) {
      this.#forget(open, missed);
      return;
    }
    open.stored = stored;
    open.isRoaming = true;
    open.reports = missed;
    const progress = this.#isRecent(stored) ? stored.progress : undefined;
    open.playback = new Playback(open.isLive, clock.nowMs(), stored.state, progress);
    for (const timed of missed) applyReport(open.playback, timed);
    this.#writeSoon(open);
  }

  #forget(open: OpenPlayback, reports: readonly TimedReport[]): void {
    this.#release(reports);
    this.#open.delete(open.name);
    this.#changed.delete(open);
    this.#soon.delete(open);
  }

  /** Without room, a playback that another server stores meanwhile loses some of its counts: better than to refuse the reports of all. */
  #keep(open: OpenPlayback, timed: TimedReport): void {
    const most = this.#options.maxKeptEvents ?? maxKeptEvents;
    const weight = weightOf(timed);
    if (this.#keptEvents + weight > most) this.#release(open.reports.splice(0));
    if (this.#keptEvents + weight > most) return;
    open.reports.push(timed);
    this.#keptEvents += weight;
  }

  #release(reports: readonly TimedReport[]): void {
    for (const timed of reports) this.#keptEvents -= weightOf(timed);
  }

  /** Corrects the expected ends of viewers who have left, or at its own end of all. */
  #collectSilent(): void {
    const isEnd = this.#isStopped || this.#isLeaving;
    for (const open of this.#open.values()) {
      if (!isEnd && !this.#isSilent(open)) return;
      if (open.playback.hasExpectedEnd) this.#changed.add(open);
    }
  }

  #isSilent({ heardAtMs }: OpenPlayback): boolean {
    return this.#options.clock.monotonicMs() - heardAtMs > silenceMs;
  }

  #isRecent({ touchedAtMs }: StoredPlayback): boolean {
    return this.#options.clock.nowMs() - touchedAtMs < idleTimeoutMs;
  }

  #evictIdle(): void {
    const beforeMs = this.#options.clock.monotonicMs() - idleTimeoutMs;
    let remaining = maxEvictedPerSweep;
    for (const [name, open] of this.#open) {
      if (open.heardAtMs > beforeMs || remaining === 0) return;
      remaining -= 1;
      if (!this.#changed.has(open) && !open.playback.hasExpectedEnd) this.#open.delete(name);
    }
  }

  /** Undefined for unknown media. */
  async #findOrOpen(report: PlaybackReport, sender: ReportSender): Promise<OpenPlayback | undefined> {
    const { mediaId } = report;
    const key = createHash('sha256').update(`${mediaId}\n${report.playbackId}`).digest().subarray(0, 16);
    const name = key.toString('latin1');
    const known = this.#findOpen(name);
    if (known !== undefined) return known;
    const { writes, clock, geo } = this.#options;
    const media = this.#media.recent(mediaId) ?? (await this.#media.find(mediaId));
    if (media === undefined) return undefined;
    await geo.load();
    const stored = await writes.find(key);
    const salt = await this.#saltOfToday();
    const progress = stored !== undefined && this.#isRecent(stored) ? stored.progress : undefined;
    // The token of its first report may have expired.
    const viewerId = progress?.viewerId || (await this.#viewerIdOf(report, media));
    const openMeanwhile = this.#findOpen(name);
    if (openMeanwhile !== undefined || this.#isStopped) return openMeanwhile;
    // Rejects a single report: the next write of all makes room.
    if (this.#open.size >= (this.#options.maxOpenPlaybacks ?? maxOpenPlaybacks)) this.#evictOne();
    if (this.#open.size >= (this.#options.maxOpenPlaybacks ?? maxOpenPlaybacks))
      throw new AppError('too-many-requests');
    if (stored === undefined) {
      if (!this.#newByAddress.take(clientNetwork(sender.address)) || !this.#newByMedia.take(mediaId))
        throw new AppError('too-many-requests');
    }
    const isLive = media.type === 'live-stream';
    const open: OpenPlayback = {
      key,
      name,
      isLive,
      context: { ...this.#contextOf(report, media, sender, salt), 'viewer-id': viewerId },
      playback: new Playback(isLive, clock.nowMs(), stored?.state, progress),
      stored,
      isRoaming: progress !== undefined && progress.writer !== this.#writer,
      reports: [],
      heardAtMs: clock.monotonicMs(),
    };
    this.#open.set(name, open);
    this.#sweeps.wake();
    return open;
  }

  async #viewerIdOf({ token, mediaId }: PlaybackReport, { projectId }: WatchedMedia): Promise<string> {
    if (token === '') return '';
    return (await this.#options.viewerOf(token, { id: mediaId, projectId })) ?? '';
  }

  #findOpen(name: string): OpenPlayback | undefined {
    const open = this.#open.get(name);
    if (open === undefined) return undefined;
    open.heardAtMs = this.#options.clock.monotonicMs();
    this.#open.delete(name);
    this.#open.set(name, open);
    return open;
  }

  #evictOne(): void {
    let looks = maxEvictionLooks;
    for (const [name, open] of this.#open) {
      if (looks === 0) return;
      looks -= 1;
      if (this.#changed.has(open)) continue;
      this.#open.delete(name);
      return;
    }
  }

  #contextOf(
    report: PlaybackReport,
    media: WatchedMedia,
    sender: ReportSender,
    salt: Buffer,
  ): Omit<PlaybackContext, 'viewer-id'> {
    const { country, continent } = this.#options.geo.locate(sender.address);
    const { deviceType, operatingSystem, browser } = this.#devices.parse(sender.userAgent);
    const viewer = createHmac('sha256', salt)
      .update(`${sender.userAgent}\n${sender.address}`)
      .digest()
      .readUIntBE(0, 6);
    return {
      projectId: media.projectId,
      viewer,
      'media-id': report.mediaId,
      'media-type': media.type,
      continent,
      country,
      'device-type': deviceType,
      'operating-system': operatingSystem,
      browser,
      referrer: report.referrer,
    };
  }

  async #saltOfToday(): Promise<Buffer> {
    const nowMs = this.#options.clock.nowMs();
    const day = dayOf(nowMs);
    if (this.#salt?.day === day) return this.#salt.bytes;
    const bytes = await this.#options.writes.saltOf(nowMs);
    this.#salt = { day, bytes };
    return bytes;
  }
}
