import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveSource, PlayableBroadcast } from '../delivery/live/live-source.ts';
import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { BroadcastStats } from '../live/broadcast/broadcast-stats.ts';
import type { ClaimedBroadcast } from '../resources/live/broadcasts/broadcast-claims.store.ts';
import type { BroadcastClaims } from '../resources/live/broadcasts/broadcast-claims.ts';
import type { BroadcastHistory } from '../resources/live/broadcasts/broadcast-history.ts';
import type { IngestHealthSources } from '../resources/live/broadcasts/broadcasts.service.ts';
import type { ClusterBroadcasts } from '../resources/live/broadcasts/cluster-broadcasts.ts';
import type { LiveControl } from '../resources/live/live-streams/live-control.ts';
import type { Clock } from '../shared/clock.ts';
import { type CompressedText, RenderedText } from '../shared/text/rendered-text.ts';

type Alarms = NonNullable<ReturnType<IngestHealthSources['health']>>['alarms'];

/** Of a broadcast, for the servers that do not package it. */
export interface BroadcastReport {
  readonly stats: BroadcastStats & { readonly viewers: number };
  readonly alarms: Alarms;
}

interface ClusterLiveOptions {
  readonly registry: BroadcastRegistry;
  readonly cluster: ClusterBroadcasts;
  readonly claims: BroadcastClaims;
  readonly history: BroadcastHistory;
  /** Tells all servers that the broadcast or settings of a live stream changed. */
  readonly announce: (liveStreamId: string) => void;
  readonly clock: Clock;
}

const maxRemovalMs = 3000;
const removalCheckMs = 50;

/** The broadcasts of all servers: those of this one, and what the others stored about theirs. */
export class ClusterLive implements LiveSource, LiveControl {
  readonly #options: ClusterLiveOptions;
  readonly #registry: BroadcastRegistry;
  readonly #cluster: ClusterBroadcasts;
  readonly #texts = new WeakMap<ClaimedBroadcast, CompressedText>();
  readonly #reports = new WeakMap<ClaimedBroadcast, BroadcastReport>();

  constructor(options: ClusterLiveOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.#cluster = options.cluster;
  }

  get mediaUrl(): string | undefined {
    return this.#cluster.ownMediaUrl;
  }

  current(liveStreamId: string): PlayableBroadcast | undefined {
    const remote = this.#remote(liveStreamId);
    return remote === undefined ? this.#registry.current(liveStreamId) : this.#playable(remote);
  }

  find(liveStreamId: string, broadcastId: string): PlayableBroadcast | undefined {
    return this.#registry.find(liveStreamId, broadcastId);
  }

  otherAddress(liveStreamId: string, broadcastId: string): string | undefined {
    const remote = this.#remote(liveStreamId);
    return remote?.broadcastId === broadcastId && remote.multivariant !== undefined
      ? this.#cluster.mediaUrlOf(remote)
      : undefined;
  }

  state(liveStreamId: string): ReturnType<LiveSource['state']> {
    const remote = this.#remote(liveStreamId);
    if (remote === undefined) return this.#registry.state(liveStreamId);
    const isLive = this.#cluster.isBroadcasting(liveStreamId) && remote.state !== 'stopping';
    return { live: isLive, broadcastId: remote.broadcastId };
  }

  onStateChange(liveStreamId: string, listener: () => void): () => void {
    const ends = [this.#registry, this.#cluster].map(source => source.onStateChange(liveStreamId, listener));
    return () => {
      for (const end of ends) end();
    };
  }

  isBroadcasting(liveStreamId: string): boolean {
    return this.#registry.isBroadcasting(liveStreamId) || this.#cluster.isBroadcasting(liveStreamId);
  }

  async complete(liveStreamId: string): Promise<void> {
    await this.#registry.complete(liveStreamId);
    if (this.#cluster.find(liveStreamId) !== undefined) {
      await this.#options.claims.requestEnd(liveStreamId, 'completed');
    }
  }

  async remove(liveStreamId: string): Promise<void> {
    const { claims, history, clock } = this.#options;
    await this.#registry.remove(liveStreamId);
    if (!(await claims.requestEnd(liveStreamId, 'deleted'))) return;
    const deadlineMs = clock.monotonicMs() + maxRemovalMs;
    for (;;) {
      const open = await claims.store.findOpen(liveStreamId);
      if (open === undefined) return;
      if (clock.monotonicMs() >= deadlineMs) {
        await history.ended(open.broadcastId, clock.nowMs(), 'deleted');
        return;
      }
      await sleep(removalCheckMs);
    }
  }

  /** The server that packages the broadcast reads them. */
  settingsChanged(liveStreamId: string): void {
    if (this.#cluster.find(liveStreamId) !== undefined) this.#options.announce(liveStreamId);
  }

  stats(includesProject: (projectId: string) => boolean): BroadcastReport['stats'][] {
    return [...this.#cluster.list()]
      .filter(({ projectId, liveStreamId }) => includesProject(projectId) && this.#remote(liveStreamId))
      .flatMap(remote => this.#reportOf(remote)?.stats ?? []);
  }

  report(liveStreamId: string): BroadcastReport | undefined {
    const remote = this.#remote(liveStreamId);
    return remote && this.#reportOf(remote);
  }

  /** The samples are in the memory of the server that packages the broadcast. */
  emptyHistory(liveStreamId: string): ReturnType<IngestHealthSources['history']> {
    const remote = this.#remote(liveStreamId);
    if (remote?.report === undefined) return undefined;
    const { broadcastId, startedAtMs } = remote;
    return { broadcastId, startedAtMs, endedAtMs: undefined, stepSeconds: 1, samples: [] };
  }

  /** A broadcast that this server has begun is newer than what was read of another one's. */
  #remote(liveStreamId: string): ClaimedBroadcast | undefined {
    if (this.#registry.isRunning(liveStreamId)) return undefined;
    return this.#cluster.find(liveStreamId);
  }

  #playable(remote: ClaimedBroadcast): PlayableBroadcast {
    const { broadcastId, width, height, multivariant } = remote;
    const mediaUrl = this.#cluster.mediaUrlOf(remote);
    return {
      broadcastId,
      mediaUrl,
      serverUrl: this.#cluster.serverUrlOf(remote),
      videoSize: width && height ? { width, height } : undefined,
      multivariant: () => {
        if (multivariant === undefined || mediaUrl === undefined) return undefined;
        let text = this.#texts.get(remote);
        if (text === undefined) {
          text = new RenderedText(multivariant);
          this.#texts.set(remote, text);
        }
        return text;
      },
      mediaPlaylist: async () => ({ status: 404, reason: 'Another server has this broadcast.' }),
      media: () => undefined,
    };
  }

  #reportOf(remote: ClaimedBroadcast): BroadcastReport | undefined {
    if (remote.report === undefined) return undefined;
    let report = this.#reports.get(remote);
    if (report === undefined) {
      report = JSON.parse(remote.report) as BroadcastReport;
      this.#reports.set(remote, report);
    }
    return report;
  }
}
