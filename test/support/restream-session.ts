import { setTimeout as sleep } from 'node:timers/promises';
import type { BroadcastSubscriber } from '../../src/live/broadcast/broadcast-subscriber.ts';
import { dial } from '../../src/live/restream/dial.ts';
import type { RestreamStatus } from '../../src/live/restream/restream-destination.ts';
import type { RestreamTimeouts } from '../../src/live/restream/restream-retries.ts';
import { Restreamer, type StoppedRestream } from '../../src/live/restream/restreamer.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { ResolveHost } from '../../src/shared/network/target-address.ts';
import { type LogLine, recordingLogger } from './ingest-client.ts';
import { eventsOf } from './media-samples.ts';
import { waitUntil } from './wait-until.ts';

/** A destination as a stream names it. */
export interface Destination {
  readonly url: string;
  readonly key: string;
}

/** A broadcast with its destinations, and nothing else of a server. `await using` ends it. */
export interface RestreamFixture {
  readonly restreams: Restreamer;
  readonly log: LogLine[];
  readonly stopped: StoppedRestream[];
  status(index?: number): RestreamStatus;
  until(
    what: string,
    condition: (status: RestreamStatus) => boolean,
    index?: number,
  ): Promise<RestreamStatus>;
  /** Plays tags again and again at their pace, the configuration first; stops at the end of the session or when told to. */
  play(tags: readonly FlvTag[]): { stop(): Promise<void> };
  /** The publisher is gone for now. */
  disconnectPublisher(): void;
  /** The broadcast ends; resolves when nothing of it is left. */
  end(reason?: 'completed' | 'deleted'): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const streamId = 'li-test';

/** Begins a broadcast of production. Waits are short unless told otherwise. */
export function startRestreamSession(
  destinations: readonly Destination[],
  options: {
    times?: Partial<RestreamTimeouts>;
    resolve?: ResolveHost;
    allowPrivate?: boolean;
    dialTimeoutMs?: number;
  } = {},
): RestreamFixture {
  const log: LogLine[] = [];
  const logger = recordingLogger(log);
  const stopped: StoppedRestream[] = [];
  const restreams = new Restreamer({
    dial: (target, signal) =>
      dial(
        target,
        {
          resolve: options.resolve ?? (async () => [{ address: '127.0.0.1', family: 4 }]),
          allowPrivate: options.allowPrivate ?? true,
          timeoutMs: options.dialTimeoutMs ?? 10_000,
        },
        signal,
      ),
    sandboxLimitMs: 1_000,
    onStopped: async what => void stopped.push(what),
    observer: {
      bytesOut() {},
      framesDropped() {},
      retried() {},
      failed() {},
    },
    clock: systemClock,
    log: logger,
    times: { firstRetryMs: 100, maxRetryMs: 300, ...options.times },
  });
  const follower: BroadcastSubscriber = restreams.follow({
    broadcastId: 'br-test',
    liveStreamId: streamId,
    projectId: 'project',
    environment: 'production',
    startedAtMs: 0,
    restreams: destinations.map(({ url, key }, index) => ({
      name: `destination ${index}`,
      serverUrl: url,
      streamKey: key,
    })),
  });
  const playing = new Set<{ stop(): Promise<void> }>();
  let offsetMs = 0;
  const status = (index = 0) => restreams.ofStream(streamId)![index]!;
  const end = async (reason: 'completed' | 'deleted' = 'completed') => {
    for (const one of playing) await one.stop();
    follower.ended(reason);
    await restreams.stop();
  };
  return {
    restreams,
    log,
    stopped,
    status,
    until: (what, condition, index = 0) =>
      waitUntil(() => (condition(status(index)) ? status(index) : undefined), {
        what: () => `${what}: ${JSON.stringify(status(index))}`,
      }),
    play: tags => {
      let isOver = false;
      const round = async () => {
        while (!isOver) {
          const startedMs = performance.now();
          for (const tag of tags) {
            if (isOver) return;
            const [media] = eventsOf(tag);
            if (media?.type !== 'sample' && media?.type !== 'config') continue;
            const leftMs = tag.timestampMs - (performance.now() - startedMs);
            if (leftMs > 2) await sleep(leftMs);
            const atMs = tag.timestampMs + offsetMs;
            if (!isOver) follower.media!({ media, atMs, isSlate: false });
          }
          offsetMs += tags.at(-1)!.timestampMs + 20;
        }
      };
      const done = round();
      const one = {
        stop: async () => {
          isOver = true;
          playing.delete(one);
          await done;
        },
      };
      playing.add(one);
      return one;
    },
    disconnectPublisher: () => follower.stateChanged!('waiting'),
    end,
    [Symbol.asyncDispose]: () => end('deleted'),
  };
}
