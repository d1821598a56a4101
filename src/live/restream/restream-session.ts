import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { redactServerUrl } from '../../shared/network/redact-server-url.ts';
import {
  type BroadcastInfo,
  type BroadcastSubscriber,
  type RestreamConfig,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import { mustEncode } from '../broadcast/codec-policy.ts';
import { ConvertedAudio } from './converted-audio.ts';
import { PackagedMedia } from './packaged-media.ts';
import type { RestreamDestination, RestreamStatus } from './restream-destination.ts';
import { RestreamFeed, type RestreamMedia } from './restream-feed.ts';
import { SandboxTime } from './sandbox-time.ts';

/** Shared by destinations of a broadcast. */
export interface DestinationContext {
  readonly feed: RestreamFeed;
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
  readonly log: Logger;
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
  readonly subscriber: BroadcastSubscriber;
  readonly #options: RestreamSessionOptions;
  readonly #sourceFeed = new RestreamFeed(sourceRendition);
  readonly #encodedFeeds = new Map<string, RestreamFeed>();
  readonly #packaged: PackagedMedia;
  #isSourcePackaged = false;
  /** Undefined until an encoder was planned. */
  #encodedRenditions: readonly string[] | undefined;
  readonly #sandboxTime: SandboxTime | undefined;
  /** Renditions with codecs that RTMP destinations do not get. */
  readonly #unsupportedRenditions = new Set<string>();
  #entries: readonly Entry[] = [];
  #destinations: readonly RestreamDestination[] = [];

  constructor(options: RestreamSessionOptions) {
    this.#options = options;
    this.broadcast = options.broadcast;
    const { broadcast, sandboxLimitMs, clock } = options;
    if (broadcast.environment === 'sandbox') this.#sandboxTime = new SandboxTime(sandboxLimitMs, clock);
    this.#packaged = new PackagedMedia((rendition, isSupported) => {
      if (isSupported) this.#unsupportedRenditions.delete(rendition);
      else this.#unsupportedRenditions.add(rendition);
      this.#stopUnsupported();
    });
    if (broadcast.environment === 'sandbox') this.#packageSource(true);
    this.subscriber = this.#createSubscriber();
    this.#setEntries(options.broadcast.restreams.map(restream => this.#entry(restream)));
  }

  get destinations(): readonly RestreamDestination[] {
    return this.#destinations;
  }

  /** Statuses in the order of the live stream's restreams. */
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
    this.#removeUnusedFeeds();
    this.#stopUnsupported();
  }

  end(atOnce: boolean): Promise<unknown> {
    if (!atOnce) {
      this.#packaged.flush();
      for (const feed of this.#feeds) feed.flush();
    }
    return Promise.all(this.#destinations.map(destination => destination.end(atOnce)));
  }

  get #feeds(): RestreamFeed[] {
    return [this.#sourceFeed, ...this.#encodedFeeds.values()];
  }

  #createSubscriber(): BroadcastSubscriber {
    const packaged = this.#packaged;
    const converted = new ConvertedAudio(media => this.#sourceFeed.take(media));
    return {
      name: 'restreams',
      media: media => {
        if (media.isSlate) return;
        this.#followSource(media);
        if (!this.#isSourcePackaged && !converted.replaces(media)) this.#sourceFeed.take(media);
      },
      tracks: (rendition, tracks, _init, isSlate) => {
        if (isSlate) return;
        packaged.tracks(rendition, tracks);
        if (!this.#isSourcePackaged) converted.tracks(rendition, tracks);
      },
      sample: (rendition, kind, sample, atMs, isSlate) => {
        if (isSlate) return;
        packaged.sample(rendition, kind, sample, atMs);
        if (!this.#isSourcePackaged) converted.sample(rendition, kind, sample, atMs);
      },
      encodedRenditions: renditions => this.#setEncodedRenditions(renditions),
      encodedTrack: (rendition, track) => packaged.encodedTrack(rendition, track),
      encodedSample: (rendition, sample, atMs) => packaged.encodedSample(rendition, sample, atMs),
      stateChanged: state => {
        if (state !== 'waiting' && state !== 'stopping') return;
        for (const feed of this.#feeds) feed.publisherGone();
      },
      ended: reason => this.#options.onEnded(reason === 'deleted'),
    };
  }

  /** Packaged media has the sandbox watermark, and is encoded from video that destinations cannot play. */
  #followSource({ media: { kind, codec } }: RestreamMedia): void {
    if (kind === 'audio' || this.broadcast.environment === 'sandbox') return;
    const isPackaged = mustEncode(codec);
    if (isPackaged !== this.#isSourcePackaged) this.#packageSource(isPackaged);
  }

  #packageSource(isPackaged: boolean): void {
    this.#isSourcePackaged = isPackaged;
    if (isPackaged) this.#packaged.add(sourceRendition, media => this.#sourceFeed.take(media));
    else {
      this.#packaged.remove(sourceRendition);
      this.#unsupportedRenditions.delete(sourceRendition);
    }
  }

  #setEntries(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#destinations = entries.flatMap(({ destination }) => destination ?? []);
  }

  #entry(restream: RestreamConfig): Entry {
    const { createDestination, clock } = this.#options;
    const sinceMs = clock.nowMs();
    if (restream.isEnabled === false) return { restream, destination: undefined, sinceMs };
    const sandboxTime = this.#sandboxTime;
    const destination = createDestination(restream, { feed: this.#feedOf(restream), sandboxTime });
    if (sandboxTime?.isOver(restream)) destination.stop('sandbox-limit');
    return { restream, destination, sinceMs };
  }

  #feedOf({ name, rendition = sourceRendition }: RestreamConfig): RestreamFeed {
    if (rendition === sourceRendition) return this.#sourceFeed;
    if (this.#encodedRenditions?.includes(rendition) === false) {
      this.#options.log.warn('restream-rendition-missing', { restream: name, rendition });
      return this.#sourceFeed;
    }
    const known = this.#encodedFeeds.get(rendition);
    if (known !== undefined) return known;
    const feed = new RestreamFeed(rendition);
    this.#encodedFeeds.set(rendition, feed);
    this.#packaged.add(rendition, media => feed.take(media));
    return feed;
  }

  #setEncodedRenditions(renditions: readonly string[]): void {
    this.#encodedRenditions = renditions;
    for (const { restream, destination } of this.#entries) {
      if (restream.rendition !== undefined) destination?.useFeed(this.#feedOf(restream));
    }
    this.#removeUnusedFeeds();
  }

  #removeUnusedFeeds(): void {
    for (const [rendition, feed] of this.#encodedFeeds) {
      if (!feed.isUnused) continue;
      this.#encodedFeeds.delete(rendition);
      this.#packaged.remove(rendition);
      this.#unsupportedRenditions.delete(rendition);
    }
  }

  #stopUnsupported(): void {
    const detail =
      this.broadcast.environment === 'sandbox'
        ? 'The sandbox restreams H.264 and AAC only. Change the codecs in the encoder.'
        : this.#unsupportedRenditions.has(sourceRendition)
          ? 'The server encodes this video, and restreams it with AAC only, to which its settings do not convert the audio (live.packager). Choose H.264 in the encoder.'
          : 'Encoded renditions are restreamed with AAC only. Choose AAC in the encoder, or the source for the destination.';
    for (const destination of this.#destinations) {
      if (this.#unsupportedRenditions.has(destination.rendition)) destination.stop('codec', detail);
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

function disabledStatus({ name, serverUrl, rendition }: RestreamConfig, sinceMs: number): RestreamStatus {
  return {
    name,
    serverUrl: redactServerUrl(serverUrl),
    rendition: rendition ?? sourceRendition,
    state: 'disabled',
    sinceMs,
    reason: undefined,
    bitrateBitsPerSecond: 0,
    droppedFrames: 0,
    retries: 0,
    lastError: undefined,
  };
}
