import { BackOff } from '../../shared/back-off.ts';
import { LiveMedia, playableWith } from './live-media.ts';
import type { ServerClock } from './server-clock.ts';
import { type StreamState, StreamWatcher } from './stream-watcher.ts';

/**
 * What the viewer has before them. `waiting`: the stream is offline; `starting`: it is live, the first picture is not there yet;
 * `live`: pictures; `reconnecting`: pictures were there and will come again; `ended`: the broadcast they saw is over;
 * `unsupported`: this browser cannot play it.
 */
export type Phase = 'waiting' | 'starting' | 'live' | 'reconnecting' | 'ended' | 'unsupported';

/** Where things of a stream are. */
export interface StreamAddresses {
  /** Paths of the multivariant playlist, with their queries: where it is, and where it will be when it is there no more. */
  readonly hls: readonly string[];
  /** Path of the stream's page, such as `/live/li…`. */
  readonly page: string;
  /** What its state is asked for with: `''`, or `?…`. */
  readonly query: string;
}

/** Hears about a session. */
export interface LiveSessionHandlers {
  onPhase(phase: Phase): void;
  /** Whether the server can be reached; told while there is no picture. */
  onReachable(isReachable: boolean): void;
  /** Whether the broadcaster has stopped sending while the broadcast goes on. */
  onSourceStalled(isSilent: boolean): void;
}

/** Playback that held for this long makes up for earlier faults. */
const stableMs = 10_000;

/** Follows one live stream for as long as the page is open: offline, broadcast after broadcast, and what breaks in between. */
export class LiveSession {
  readonly media: LiveMedia;
  readonly #video: HTMLVideoElement;
  readonly #hls: readonly string[];
  readonly #handlers: LiveSessionHandlers;
  readonly #watcher: StreamWatcher;
  readonly #backOff = new BackOff(300, 8000);
  #phase: Phase = 'waiting';
  #broadcastId: string | null = null;
  #endedBroadcastId: string | null = null;
  #steadyTimer = 0;
  #retryTimer = 0;
  #isEnded = false;

  constructor(
    addresses: StreamAddresses,
    video: HTMLVideoElement,
    clock: ServerClock,
    handlers: LiveSessionHandlers,
  ) {
    this.#hls = addresses.hls;
    this.#video = video;
    this.#handlers = handlers;
    this.#watcher = new StreamWatcher(addresses.page, addresses.query, {
      onState: state => this.#onState(state),
      onReachable: isReachable => handlers.onReachable(isReachable),
    });
    this.media = new LiveMedia(video, clock, {
      onNotYet: () => {},
      onEnded: () => this.#onEnded(),
      onPublisherStopped: () => this.#onPublisherStopped(),
      onFailed: () => this.#onFailed(),
      onSourceStalled: isSilent => handlers.onSourceStalled(isSilent),
    });
    video.addEventListener('loadeddata', () => this.#onFirstFrame());
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Begins with the state that the page came with, so that a running stream need not be asked for. */
  start(video: HTMLVideoElement, state: StreamState): void {
    if (playableWith(video) === undefined) {
      this.#setPhase('unsupported');
      return;
    }
    this.#watcher.start();
    this.#onState(state);
  }

  /** Stops playing and asking, for good. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#steadyTimer);
    clearTimeout(this.#retryTimer);
    this.#watcher.stop();
    this.media.stop();
  }

  #onState(state: StreamState): void {
    if (this.#isEnded) return;
    if (!state.live) {
      if (this.#phase !== 'starting' && this.#phase !== 'reconnecting') return;
      this.media.stop();
      this.#setPhase(this.#phase === 'starting' ? 'waiting' : 'ended');
      return;
    }
    // The list says that a broadcast is over a moment before the state does.
    if (this.#phase === 'ended' && state.broadcastId === this.#endedBroadcastId) return;
    if (this.#phase === 'live') return;
    if (this.media.isLoaded && state.broadcastId === this.#broadcastId) return;
    this.#broadcastId = state.broadcastId;
    if (this.#phase !== 'reconnecting') this.#setPhase('starting');
    this.media.load(this.#hls);
  }

  #onFirstFrame(): void {
    if (!this.media.isLoaded) return;
    // A browser has six HTTP/1.1 connections to a server for all its tabs; playing, this page needs only two.
    this.#watcher.stop();
    this.#setPhase('live');
    clearTimeout(this.#steadyTimer);
    this.#steadyTimer = setTimeout(() => this.#backOff.reset(), stableMs);
  }

  #onEnded(): void {
    this.#endedBroadcastId = this.#broadcastId;
    this.media.stop();
    this.#setPhase('ended');
    this.#watcher.start();
  }

  /** The end is not final: the same broadcast may go on. */
  #onPublisherStopped(): void {
    this.media.stop();
    this.#setPhase('ended');
    // The element does not know of it, and those who count what is watched listen to the element.
    this.#video.dispatchEvent(new Event('ended'));
    this.#watcher.start();
  }

  #onFailed(): void {
    clearTimeout(this.#steadyTimer);
    clearTimeout(this.#retryTimer);
    if (this.#phase === 'live') this.#setPhase('reconnecting');
    this.#watcher.stop();
    this.#retryTimer = setTimeout(() => this.#watcher.start(), this.#backOff.next());
  }

  #setPhase(phase: Phase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#handlers.onPhase(phase);
  }
}
