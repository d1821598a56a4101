import { setTimeout as sleep } from 'node:timers/promises';
import type { BroadcastStatsMessage } from '../../../events/feed/feed-message.ts';
import type { Clock } from '../../../shared/clock.ts';
import { type CompressedText, RenderedText } from '../../../shared/text/rendered-text.ts';
import type { PlaylistRefusal } from '../../../shared/viewer-responses.ts';
import type { LiveControl } from '../live-streams/live-control.ts';
import type { ClaimedBroadcast } from './broadcast-claims.store.ts';
import type { BroadcastClaims } from './broadcast-claims.ts';
import type { BroadcastHistory } from './broadcast-history.ts';
import type { IngestHealth, IngestHealthSources } from './broadcasts.service.ts';
import type { ClusterBroadcasts } from './cluster-broadcasts.ts';

/** State of a broadcast for the servers that do not package it. */
export interface BroadcastReport {
  readonly stats: BroadcastStatsMessage & Omit<IngestHealth, 'alarms'>;
  readonly alarms: IngestHealth['alarms'];
}

/** The broadcasts that this server packages. */
interface OwnBroadcasts<Playable> extends LiveControl {
  current(liveStreamId: string): Playable | undefined;
  find(liveStreamId: string, broadcastId: string): Playable | undefined;
  state(liveStreamId: string): LiveState;
  onStateChange(liveStreamId: string, listener: () => void): () => void;
  isRunning(liveStreamId: string): boolean;
}

interface LiveState {
  readonly live: boolean;
  readonly broadcastId?: string;
}

/** A broadcast that another server packages. */
interface RemoteBroadcast {
  readonly broadcastId: string;
  readonly mediaUrl: string | undefined;
  readonly serverUrl: string | undefined;
  readonly videoSize: { readonly width: number; readonly height: number } | undefined;
  multivariant(): CompressedText | undefined;
  mediaPlaylist(): Promise<PlaylistRefusal>;
  media(): undefined;
}

interface ClusterLiveOptions<Playable> {
  readonly registry: OwnBroadcasts<Playable>;
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
export class ClusterLive<Playable> implements LiveControl {
  readonly #options: ClusterLiveOptions<Playable>;
  readonly #registry: OwnBroadcasts<Playable>;
  readonly #cluster: ClusterBroadcasts;
  readonly #texts = new WeakMap<ClaimedBroadcast, CompressedText>();

  constructor(options: ClusterLiveOptions<Playable>) {
    this.#options = options;
    this.#registry = options.registry;
    this.#cluster = options.cluster;
  }

  get mediaUrl(): string | undefined {
    return this.#cluster.ownMediaUrl;
  }

  current(liveStreamId: string): Playable | RemoteBroadcast | undefined {
    const remote = this.#remote(liveStreamId);
    return remote === undefined ? this.#registry.current(liveStreamId) : this.#playable(remote);
  }

  find(liveStreamId: string, broadcastId: string): Playable | undefined {
    return this.#registry.find(liveStreamId, broadcastId);
  }

  otherAddress(liveStreamId: string, broadcastId: string): string | undefined {
    const remote = this.#remote(liveStreamId);
    return remote?.broadcastId === broadcastId && remote.multivariant !== undefined
      ? this.#cluster.mediaUrlOf(remote)
      : undefined;
  }

  state(liveStreamId: string): LiveState {
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
      .flatMap(remote => parseReport(this.#cluster.recentReportOf(remote))?.stats ?? []);
  }

  async report(liveStreamId: string): Promise<BroadcastReport | undefined> {
    const remote = this.#remote(liveStreamId);
    return remote && parseReport(await this.#cluster.reportOf(remote));
  }

  /** The samples are in the memory of the server that packages the broadcast. */
  emptyHistory(liveStreamId: string): ReturnType<IngestHealthSources['history']> {
    const remote = this.#remote(liveStreamId);
    if (!remote?.hasReport) return undefined;
    const { broadcastId, startedAtMs } = remote;
    return { broadcastId, startedAtMs, endedAtMs: undefined, stepSeconds: 1, samples: [] };
  }

  /** A broadcast that this server has begun is newer than what was read of another one's. */
  #remote(liveStreamId: string): ClaimedBroadcast | undefined {
    if (this.#registry.isRunning(liveStreamId)) return undefined;
    return this.#cluster.find(liveStreamId);
  }

  #playable(remote: ClaimedBroadcast): RemoteBroadcast {
    const { broadcastId, width, height } = remote;
    const mediaUrl = this.#cluster.mediaUrlOf(remote);
    return {
      broadcastId,
      mediaUrl,
      serverUrl: this.#cluster.serverUrlOf(remote),
      videoSize: width && height ? { width, height } : undefined,
      multivariant: () => {
        const multivariant = this.#cluster.multivariantOf(remote);
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
}

function parseReport(json: string | undefined): BroadcastReport | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as BroadcastReport);
}
