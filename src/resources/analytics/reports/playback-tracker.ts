import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { dayOf } from '../../../shared/day.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';
import { OnDemandInterval } from '../../../shared/scheduling/on-demand-interval.ts';
import { TokenBuckets } from '../../../shared/token-buckets.ts';
import type { AnalyticsWritesStore, PlaybackContext, PlaybackUpdate } from './analytics-writes.store.ts';
import { DeviceParser } from './device-parser.ts';
import type { GeoLookup } from './geo-lookup.ts';
import { Playback } from './playback.ts';
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
  readonly writes: AnalyticsWritesStore;
  readonly geo: GeoLookup;
  readonly findMedia: (mediaId: string) => Promise<WatchedMedia | undefined>;
  readonly viewerOf: ViewerOf;
  /** 0 for no limit. */
  readonly reportsPerMinute: number;
  /** The next report of a playback may reach another server, so it is written and forgotten soon after each report. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** 100,000 unless given. */
  readonly maxOpenPlaybacks?: number;
}

export interface ReportSender {
  readonly address: string;
  readonly userAgent: string;
}

interface OpenPlayback {
  readonly key: Buffer;
  readonly playback: Playback;
  readonly context: PlaybackContext;
  heardAtMs: number;
}

/** A crash loses at most this much. */
const writeDelayMs = 1_000;
const sharedWriteDelayMs = 200;
/** Players report every five to ten seconds. Later reports read their playback from the database. */
const idleTimeoutMs = 120_000;
const sweepIntervalMs = 10_000;
const maxEvictedPerSweep = 5_000;
const maxOpenPlaybacks = 100_000;
const playbacksPerBatch = 15;
const maxTrackedAddresses = 50_000;
const maxTrackedMedia = 50_000;
/**
 * Limits of new playbacks. Many viewers start a live stream in the same minute, but one address never starts so
 * many.
 */
const newPlaybacksPerMinute = { ofMedia: 30_000, ofAddress: 3_000 };

/** Writes updates in batches every second, so that no report waits for the disk. */
export class PlaybackTracker implements Component {
  readonly name = 'playbacks';
  readonly #options: PlaybackTrackerOptions;
  readonly #devices = new DeviceParser();
  readonly #reports: TokenBuckets;
  readonly #newByMedia: TokenBuckets;
  readonly #newByAddress: TokenBuckets;
  /** Least recently reported first. */
  readonly #open = new Map<string, OpenPlayback>();
  readonly #changed = new Set<OpenPlayback>();
  #salt: { readonly day: number; readonly bytes: Buffer } | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #sweeps = new OnDemandInterval(sweepIntervalMs, () => {
    this.#evictIdle();
    return this.#open.size > 0;
  });
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: PlaybackTrackerOptions) {
    const { clock, reportsPerMinute } = options;
    this.#options = options;
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

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sweeps.stop();
    await this.flush();
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Ignores reports of unknown media. @throws AppError `too-many-requests` */
  async handle(report: PlaybackReport, sender: ReportSender): Promise<void> {
    if (!this.#reports.take(clientNetwork(sender.address))) throw new AppError('too-many-requests');
    const media = await this.#options.findMedia(report.mediaId);
    if (media === undefined || this.#isStopped) return;
    await this.#options.geo.load();
    const open = await this.#findOrOpen(report, media, sender);
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.nowMs();
    const { playback } = open;
    for (const event of report.events) playback.handle(event, nowMs);
    if (report.sentMs !== undefined && playback.isPlaying) {
      const now = { clientMs: report.sentMs, atMs: nowMs, position: undefined, isPaused: false };
      playback.handle({ type: 'timeupdate', ...now }, nowMs);
    }
    if (playback.hasUpdates || this.#options.isShared) this.#changed.add(open);
    if (this.#changed.size > 0) this.#writeSoon();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeAll());
    await this.#writing;
  }

  #writeSoon(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = setTimeout(
      () => {
        this.flush().catch(error => this.#options.log.error('playbacks-not-written', { error }));
      },
      this.#options.isShared ? sharedWriteDelayMs : writeDelayMs,
    );
  }

  async #writeAll(): Promise<void> {
    const { isShared } = this.#options;
    while (this.#changed.size > 0) {
      const batch = this.#takeChanged(playbacksPerBatch);
      const updates = batch.map((open): PlaybackUpdate => {
        const { key, context, playback } = open;
        const viewerId = context['viewer-id'];
        const progress = isShared ? { progress: { ...playback.progress, viewerId } } : {};
        return { key, context, ...progress, ...playback.collect() };
      });
      try {
        await this.#options.writes.write(updates, this.#options.clock.nowMs());
      } catch (error) {
        // Drops the updates: they would grow as long as the disk is full.
        this.#options.log.error('playbacks-not-written', { count: updates.length, error });
      }
      if (isShared) this.#forget(batch);
    }
    this.#evictIdle();
  }

  #takeChanged(count: number): OpenPlayback[] {
    const taken: OpenPlayback[] = [];
    for (const open of this.#changed) {
      this.#changed.delete(open);
      taken.push(open);
      if (taken.length >= count) break;
    }
    return taken;
  }

  #forget(written: readonly OpenPlayback[]): void {
    for (const open of written) if (!this.#changed.has(open)) this.#open.delete(open.key.toString('latin1'));
  }

  #evictIdle(): void {
    const beforeMs = this.#options.clock.monotonicMs() - idleTimeoutMs;
    let remaining = maxEvictedPerSweep;
    for (const [name, open] of this.#open) {
      if (open.heardAtMs > beforeMs || remaining === 0) return;
      remaining -= 1;
      if (!this.#changed.has(open)) this.#open.delete(name);
    }
  }

  async #findOrOpen(
    report: PlaybackReport,
    media: WatchedMedia,
    sender: ReportSender,
  ): Promise<OpenPlayback> {
    const key = createHash('sha256')
      .update(`${report.mediaId}\n${report.playbackId}`)
      .digest()
      .subarray(0, 16);
    const name = key.toString('latin1');
    const known = this.#findOpen(name);
    if (known !== undefined) return known;
    const { writes, clock } = this.#options;
    const stored = await writes.find(key);
    const salt = await this.#saltOfToday();
    const isRecent = stored !== undefined && clock.nowMs() - stored.touchedAtMs < idleTimeoutMs;
    const progress = isRecent ? stored.progress : undefined;
    // The token of its first report may have expired.
    const viewerId = progress?.viewerId || (await this.#viewerIdOf(report, media));
    const openMeanwhile = this.#findOpen(name);
    if (openMeanwhile !== undefined) return openMeanwhile;
    // Rejects a single report: pending writes make room within a second.
    if (this.#open.size >= (this.#options.maxOpenPlaybacks ?? maxOpenPlaybacks)) this.#evictOne();
    if (this.#open.size >= (this.#options.maxOpenPlaybacks ?? maxOpenPlaybacks))
      throw new AppError('too-many-requests');
    if (stored === undefined) {
      if (!this.#newByAddress.take(clientNetwork(sender.address)) || !this.#newByMedia.take(report.mediaId))
        throw new AppError('too-many-requests');
    }
    const playback = new Playback(media.type === 'live-stream', clock.nowMs(), stored?.state, progress);
    const context = { ...this.#contextOf(report, media, sender, salt), 'viewer-id': viewerId };
    const open = { key, playback, context, heardAtMs: clock.monotonicMs() };
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
    for (const [name, open] of this.#open) {
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
