import { FlvMuxer } from '../../media/flv/flv-muxer.ts';
import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import { redactServerUrl } from '../../shared/network/redact-server-url.ts';
import {
  audioRendition,
  type BroadcastInfo,
  type BroadcastSubscriber,
  type RestreamConfig,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import type { RestreamDestination, RestreamStatus } from './restream-destination.ts';
import { RestreamFormat } from './restream-format.ts';
import { SandboxTime } from './sandbox-time.ts';

/** Shared by the destinations of a broadcast. */
export interface DestinationContext {
  readonly format: RestreamFormat;
  /** Undefined in production. */
  readonly sandboxTime: SandboxTime | undefined;
}

interface RestreamSessionOptions {
  readonly broadcast: BroadcastInfo;
  readonly createDestination: (restream: RestreamConfig, context: DestinationContext) => RestreamDestination;
  readonly sandboxLimitMs: number;
  /** Called with the end of each destination that is removed, disabled or replaced. */
  readonly onEnding: (ended: Promise<void>) => void;
  readonly onEnded: (atOnce: boolean) => void;
  readonly clock: Clock;
}

interface Entry {
  readonly restream: RestreamConfig;
  /** Undefined while disabled. */
  readonly destination: RestreamDestination | undefined;
  readonly sinceMs: number;
}

/** The destinations of one broadcast, which can change while it is live. */
export class RestreamSession {
  readonly broadcast: BroadcastInfo;
  readonly #options: RestreamSessionOptions;
  readonly #format = new RestreamFormat();
  readonly #sandboxTime: SandboxTime | undefined;
  #isUnsupportedCodec = false;
  #entries: readonly Entry[] = [];
  destinations: readonly RestreamDestination[] = [];

  constructor(options: RestreamSessionOptions) {
    this.#options = options;
    this.broadcast = options.broadcast;
    const { broadcast, sandboxLimitMs, clock } = options;
    if (broadcast.environment === 'sandbox') this.#sandboxTime = new SandboxTime(sandboxLimitMs, clock);
    this.#setEntries(options.broadcast.restreams.map(restream => this.#entry(restream)));
  }

  /** In the order of the live stream's restreams. */
  get statuses(): readonly RestreamStatus[] {
    return this.#entries.map(({ restream, destination, sinceMs }) => {
      return destination?.status ?? disabledStatus(restream, sinceMs);
    });
  }

  /** Keeps the connections of unchanged destinations, whatever their names and positions. */
  update(restreams: readonly RestreamConfig[]): void {
    const former = [...this.#entries];
    const entries = restreams.map(restream => {
      const index = former.findIndex(entry => isSameDestination(entry.restream, restream));
      const [kept] = index === -1 ? [] : former.splice(index, 1);
      kept?.destination?.rename(restream.name);
      return { restream, kept };
    });
    for (const { destination } of former) {
      if (destination !== undefined) this.#options.onEnding(destination.end(false));
    }
    this.#setEntries(
      entries.map(({ restream, kept }) =>
        kept === undefined ? this.#entry(restream) : { ...kept, restream },
      ),
    );
    if (this.#isUnsupportedCodec) this.#stopUnsupportedCodec();
  }

  end(atOnce: boolean): Promise<unknown> {
    return Promise.all(this.destinations.map(destination => destination.end(atOnce)));
  }

  get subscriber(): BroadcastSubscriber {
    const take = (tag: RestreamTag) => this.#take(tag);
    const media =
      this.broadcast.environment === 'sandbox'
        ? packagedMedia(take, isSupported => {
            this.#isUnsupportedCodec = !isSupported;
            if (!isSupported) this.#stopUnsupportedCodec();
          })
        : publishedMedia(take);
    return {
      name: 'restreams',
      ...media,
      stateChanged: state => {
        if (state !== 'waiting' && state !== 'stopping') return;
        this.#format.publisherGone();
        for (const destination of this.destinations) destination.publisherGone();
      },
      ended: reason => this.#options.onEnded(reason === 'deleted'),
    };
  }

  #setEntries(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.destinations = entries.flatMap(({ destination }) => destination ?? []);
  }

  #entry(restream: RestreamConfig): Entry {
    const { createDestination, clock } = this.#options;
    const context = { format: this.#format, sandboxTime: this.#sandboxTime };
    const isEnabled = restream.isEnabled !== false;
    const destination = isEnabled ? createDestination(restream, context) : undefined;
    if (this.#sandboxTime?.isOver(restream)) destination?.stop('sandbox-limit');
    return { restream, destination, sinceMs: clock.nowMs() };
  }

  #take(tag: RestreamTag): void {
    const format = this.#format;
    const { fingerprint } = format;
    format.update(tag);
    const { destinations } = this;
    if (tag.role === 'config' && format.fingerprint !== fingerprint) {
      for (const destination of destinations) destination.interrupted();
    }
    for (const destination of destinations) destination.take(tag);
  }

  #stopUnsupportedCodec(): void {
    for (const destination of this.destinations) {
      destination.stop(
        'codec',
        'The sandbox restreams H.264 and AAC only. Change the codecs in the encoder.',
      );
    }
  }
}

function isSameDestination(one: RestreamConfig, other: RestreamConfig): boolean {
  return (
    one.serverUrl === other.serverUrl &&
    one.streamKey === other.streamKey &&
    (one.isEnabled ?? true) === (other.isEnabled ?? true) &&
    (one.rendition ?? sourceRendition) === (other.rendition ?? sourceRendition)
  );
}

function disabledStatus({ name, serverUrl }: RestreamConfig, sinceMs: number): RestreamStatus {
  return {
    name,
    serverUrl: redactServerUrl(serverUrl),
    state: 'disabled',
    sinceMs,
    reason: undefined,
    bitrateBitsPerSecond: 0,
    droppedFrames: 0,
    retries: 0,
    lastError: undefined,
  };
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
  onCodecs: (isSupported: boolean) => void,
): Partial<BroadcastSubscriber> {
  const flv = new FlvMuxer(take);
  const described: Partial<Record<string, Parameters<FlvMuxer['begin']>[0]>> = {};
  return {
    tracks: (rendition, tracks, _init, isSlate) => {
      if (isSlate || !isSent(rendition)) return;
      described[rendition] = tracks;
      onCodecs(flv.begin({ ...described[audioRendition], ...described[sourceRendition] }));
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
