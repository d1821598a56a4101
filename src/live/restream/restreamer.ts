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
  type RestreamTimeouts,
  restreamTimeouts,
} from './restream-destination.ts';
import type { RestreamReason } from './restream-failure.ts';
import { RestreamFormat } from './restream-format.ts';
import type { RestreamTarget } from './restream-target.ts';

/** A destination that gets no more while its broadcast goes on. */
export interface StoppedRestream {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly name: string;
  readonly reason: RestreamReason;
}

/** How a destination of a broadcast does now, for whoever listens to its project. */
export interface RestreamStats extends Omit<RestreamStatus, 'serverUrl'> {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Place in the restreams of the live stream, from 0. */
  readonly position: number;
}

/** What restreams are made with. */
export interface RestreamerOptions {
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => Promise<Socket>;
  readonly owner: ProcessOwner;
  /** The ffmpeg that copies what goes out. */
  readonly ffmpegPath: string;
  /** In the sandbox a restream is stopped so long after it went live first. */
  readonly sandboxLimitMs: number;
  /** Writes down that one was stopped. */
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

/** Sends broadcasts on to the destinations that their streams name. */
export class Restreamer implements Component {
  readonly name = 'restreams';
  readonly #options: RestreamerOptions;
  /** By broadcast, in the order of their beginning. */
  readonly #sessions = new Map<string, RestreamSession>();
  readonly #ending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RestreamerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Ends what is left, and waits until all processes and connections are gone. */
  async stop(): Promise<void> {
    for (const outing of [...this.#sessions.values()]) this.#end(outing, true);
    await Promise.all(this.#ending);
  }

  /** What goes along with a broadcast: nothing when it has no destinations. */
  follow(broadcast: BroadcastInfo): readonly BroadcastSubscriber[] {
    if (broadcast.restreams.length === 0) return [];
    const format = new RestreamFormat();
    const destinations = broadcast.restreams.map(restream => this.#destination(broadcast, restream, format));
    const outing: RestreamSession = { broadcast, destinations };
    this.#sessions.set(broadcast.broadcastId, outing);
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
    const whatComes =
      broadcast.environment === 'sandbox'
        ? packagedMedia(take, () => {
            for (const destination of destinations) {
              destination.stop('codec', 'In the sandbox only H.264 and AAC are sent on.');
            }
          })
        : publishedMedia(take);
    return [
      {
        name: 'restreams',
        ...whatComes,
        stateChanged: state => {
          if (state !== 'waiting' && state !== 'stopping') return;
          format.publisherGone();
          for (const destination of destinations) destination.publisherGone();
        },
        ended: reason => this.#end(outing, reason === 'deleted'),
      },
    ];
  }

  /** The destinations of what a stream broadcasts now, in the order of its restreams; undefined when it does not. */
  ofStream(liveStreamId: string): readonly RestreamStatus[] | undefined {
    const outing = [...this.#sessions.values()].findLast(
      ({ broadcast }) => broadcast.liveStreamId === liveStreamId,
    );
    return outing?.destinations.map(({ status }) => status);
  }

  /** All destinations of broadcasts, of the projects that `wants` names. */
  stats(wants: (projectId: string) => boolean): RestreamStats[] {
    return [...this.#sessions.values()]
      .filter(({ broadcast }) => wants(broadcast.projectId))
      .flatMap(({ broadcast: { projectId, liveStreamId, broadcastId }, destinations }) =>
        destinations.map(({ status: { serverUrl: _, ...facts } }, position) => {
          return { projectId, liveStreamId, broadcastId, position, ...facts };
        }),
      );
  }

  /** How many destinations are in each state. */
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

  #end(outing: RestreamSession, atOnce: boolean): void {
    if (!this.#sessions.delete(outing.broadcast.broadcastId)) return;
    if (this.#sessions.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const gone = Promise.all(outing.destinations.map(destination => destination.end(atOnce)));
    this.#ending.add(gone);
    void gone.then(() => this.#ending.delete(gone));
  }

  #tick(): void {
    for (const { destinations } of this.#sessions.values()) {
      for (const destination of destinations) destination.tick();
    }
  }
}

/** What the publisher sends, as it came in. What stands in for a publisher that is gone is not sent on. */
function publishedMedia(take: (tag: RestreamTag) => void): Partial<BroadcastSubscriber> {
  return {
    tag: tag => {
      if (!tag.isSlate) take(tag);
    },
  };
}

/** What was packaged, which has the watermark of the sandbox in it. */
function packagedMedia(
  take: (tag: RestreamTag) => void,
  cannotBeSent: () => void,
): Partial<BroadcastSubscriber> {
  const flv = new FlvMuxer(take);
  const described: Partial<Record<string, Parameters<FlvMuxer['begin']>[0]>> = {};
  return {
    tracks: (rendition, tracks, _init, isStandIn) => {
      if (isStandIn || !carries(rendition)) return;
      described[rendition] = tracks;
      if (!flv.begin({ ...described[audioRendition], ...described[sourceRendition] })) cannotBeSent();
    },
    sample: (rendition, kind, sample, atMs, isStandIn) => {
      if (!isStandIn && carries(rendition)) flv.add(kind, sample, atMs);
    },
  };
}

/** Beside other qualities, the sound is a rendition of its own. */
function carries(rendition: string): boolean {
  return rendition === sourceRendition || rendition === audioRendition;
}
