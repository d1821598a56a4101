import type { Socket } from 'node:net';
import type { ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { FlvMuxer } from '../../media/flv/flv-muxer.ts';
import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  audioRendition,
  type BroadcastInfo,
  type BroadcastSubscriber,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import {
  RestreamDestination,
  type RestreamObserver,
  type RestreamState,
  type RestreamStatus,
} from './restream-destination.ts';
import type { RestreamReason } from './restream-failure.ts';
import { RestreamFormat } from './restream-format.ts';
import { type RestreamTimeouts, restreamTimeouts } from './restream-retries.ts';
import type { RestreamTarget } from './restream-target.ts';

export interface StoppedRestream {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly name: string;
  readonly reason: RestreamReason;
}

interface RestreamStats extends Omit<RestreamStatus, 'serverUrl'> {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Index in the restreams of the live stream. */
  readonly position: number;
}

interface RestreamerOptions {
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => Promise<Socket>;
  readonly owner: ProcessOwner;
  readonly ffmpegPath: string;
  readonly sandboxLimitMs: number;
  readonly onStopped: (stopped: StoppedRestream) => void;
  readonly observer: RestreamObserver;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times?: Partial<RestreamTimeouts>;
}

interface RestreamSession {
  readonly broadcast: BroadcastInfo;
  readonly destinations: readonly RestreamDestination[];
}

const tickMs = 1_000;

export class Restreamer implements Component {
  readonly name = 'restreams';
  readonly #options: RestreamerOptions;
  readonly #sessions = new Map<string, RestreamSession>();
  readonly #ending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RestreamerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Waits until processes and connections are gone. */
  async stop(): Promise<void> {
    for (const session of [...this.#sessions.values()]) this.#end(session, true);
    await Promise.all(this.#ending);
  }

  follow(broadcast: BroadcastInfo): readonly BroadcastSubscriber[] {
    if (broadcast.restreams.length === 0) return [];
    const format = new RestreamFormat();
    const destinations = broadcast.restreams.map(restream => this.#destination(broadcast, restream, format));
    const session: RestreamSession = { broadcast, destinations };
    this.#sessions.set(broadcast.broadcastId, session);
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
    const interrupted = () => {
      for (const destination of destinations) destination.interrupted();
    };
    const take = (tag: RestreamTag) => {
      const { fingerprint } = format;
      format.update(tag);
      if (tag.role === 'config' && format.fingerprint !== fingerprint) interrupted();
      for (const destination of destinations) destination.take(tag);
    };
    const media =
      broadcast.environment === 'sandbox'
        ? packagedMedia(take, () => {
            for (const destination of destinations) {
              destination.stop(
                'codec',
                'The sandbox restreams H.264 and AAC only. Change the codecs in the encoder.',
              );
            }
          })
        : publishedMedia(take);
    return [
      {
        name: 'restreams',
        ...media,
        stateChanged: state => {
          if (state !== 'waiting' && state !== 'stopping') return;
          format.publisherGone();
          for (const destination of destinations) destination.publisherGone();
        },
        ended: reason => this.#end(session, reason === 'deleted'),
      },
    ];
  }

  /** In the order of the live stream's restreams; undefined without a broadcast. */
  ofStream(liveStreamId: string): readonly RestreamStatus[] | undefined {
    const session = [...this.#sessions.values()].findLast(
      ({ broadcast }) => broadcast.liveStreamId === liveStreamId,
    );
    return session?.destinations.map(({ status }) => status);
  }

  stats(wants: (projectId: string) => boolean): RestreamStats[] {
    return [...this.#sessions.values()]
      .filter(({ broadcast }) => wants(broadcast.projectId))
      .flatMap(({ broadcast: { projectId, liveStreamId, broadcastId }, destinations }) =>
        destinations.map(({ status: { serverUrl: _, ...status } }, position) => {
          return { projectId, liveStreamId, broadcastId, position, ...status };
        }),
      );
  }

  countByState(): Readonly<Record<RestreamState, number>> {
    const counts = { connecting: 0, live: 0, retrying: 0, stopped: 0 };
    for (const { destinations } of this.#sessions.values()) {
      for (const { state } of destinations) counts[state] += 1;
    }
    return counts;
  }

  #destination(
    broadcast: BroadcastInfo,
    restream: BroadcastInfo['restreams'][number],
    format: RestreamFormat,
  ): RestreamDestination {
    const { dial, owner, ffmpegPath, sandboxLimitMs, onStopped, observer, clock, times } = this.#options;
    const { projectId, liveStreamId, broadcastId, environment } = broadcast;
    const ids = { liveStreamId, broadcastId, restream: restream.name };
    return new RestreamDestination({
      restream,
      format,
      dial,
      owner,
      ids,
      ffmpegPath,
      limitMs: environment === 'sandbox' ? sandboxLimitMs : undefined,
      times: { ...restreamTimeouts, ...times },
      observer,
      onStopped: reason => onStopped({ projectId, liveStreamId, name: restream.name, reason }),
      clock,
      log: this.#options.log.child('restreams', ids),
    });
  }

  #end(session: RestreamSession, atOnce: boolean): void {
    if (!this.#sessions.delete(session.broadcast.broadcastId)) return;
    if (this.#sessions.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const gone = Promise.all(session.destinations.map(destination => destination.end(atOnce)));
    this.#ending.add(gone);
    void gone.then(() => this.#ending.delete(gone));
  }

  #tick(): void {
    for (const { destinations } of this.#sessions.values()) {
      for (const destination of destinations) destination.tick();
    }
  }
}

function publishedMedia(take: (tag: RestreamTag) => void): Partial<BroadcastSubscriber> {
  return {
    tag: tag => {
      if (!tag.isSlate) take(tag);
    },
  };
}

/** Passes packaged media on, which has the sandbox watermark. */
function packagedMedia(
  take: (tag: RestreamTag) => void,
  onUnsupportedCodec: () => void,
): Partial<BroadcastSubscriber> {
  const flv = new FlvMuxer(take);
  const described: Partial<Record<string, Parameters<FlvMuxer['begin']>[0]>> = {};
  return {
    tracks: (rendition, tracks, _init, isSlate) => {
      if (isSlate || !isSent(rendition)) return;
      described[rendition] = tracks;
      if (!flv.begin({ ...described[audioRendition], ...described[sourceRendition] })) onUnsupportedCodec();
    },
    sample: (rendition, kind, sample, atMs, isSlate) => {
      if (!isSlate && isSent(rendition)) flv.add(kind, sample, atMs);
    },
  };
}

/** Beside a ladder, audio is a rendition of its own. */
function isSent(rendition: string): boolean {
  return rendition === sourceRendition || rendition === audioRendition;
}
