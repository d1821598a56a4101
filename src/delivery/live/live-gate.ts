import type { Clock } from '../../shared/clock.ts';
import { RecentLookups } from '../../shared/recent-lookups.ts';
import type { TrafficOwner } from '../delivery-observer.ts';
import {
  type PlaybackAdmission,
  type PlaybackGate,
  PlaybackRefusal,
  type PlaybackResource,
} from '../playback-gate.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { isLinkPreview } from '../token-gate.ts';
import type { LiveStreamDirectory } from './live-source.ts';

export interface AdmittedStream extends PlaybackAdmission {
  readonly name: string;
  readonly trafficOwner: TrafficOwner;
  /** Offered over WebRTC too. */
  readonly ultraLowLatency: boolean;
  /** Viewers may clip broadcasts. */
  readonly viewerClips: boolean;
  /** True when it is in the channel of the project. */
  readonly listed: boolean;
  readonly showViewers: boolean;
  readonly startsAtMs: number | undefined;
  readonly lastStartedAtMs: number | undefined;
  readonly isSandbox: boolean;
}

export type LiveAnswer = AdmittedStream | PlaybackRefusal | undefined;

export interface LiveAdmissionRequest {
  readonly token?: string | undefined;
  readonly session?: string | undefined;
  readonly request: ViewerRequest;
  readonly liveStreamId: string;
  readonly query: string;
  readonly mayClaimToken: boolean;
  /** True for a playlist. */
  readonly beginsPlayback: boolean;
}

type FoundStream = NonNullable<Awaited<ReturnType<LiveStreamDirectory['find']>>>;

export interface LiveGateOptions {
  readonly streams: LiveStreamDirectory;
  readonly playback: PlaybackGate;
  readonly clock: Clock;
}

const noQuery = new URLSearchParams();

/** Looks streams up once a second, so requests for parts cost no query. */
export class LiveGate {
  readonly #streams: RecentLookups<FoundStream>;
  readonly #gate: PlaybackGate;

  constructor(options: LiveGateOptions) {
    this.#streams = new RecentLookups(liveStreamId => options.streams.find(liveStreamId), options.clock);
    this.#gate = options.playback;
  }

  /** A private stream needs its token, a public one must have none. */
  async admit(requested: LiveAdmissionRequest): Promise<LiveAnswer> {
    return this.#admitTo(await this.#streams.read(requested.liveStreamId), requested);
  }

  /**
   * Admits requests for playlists and media, which come many times a second. Responds at once where nothing is
   * looked up.
   */
  admitToMedia(requested: LiveAdmissionRequest): Promise<LiveAnswer> | LiveAnswer {
    const stream = this.#streams.recent(requested.liveStreamId);
    if (stream !== undefined) return this.#admitTo(stream, requested);
    return this.#streams.find(requested.liveStreamId).then(found => this.#admitTo(found, requested));
  }

  /**
   * Admits requests for pages, which carry the token in the query; a public stream ignores it.
   * @param step `check` leaves an unused token to the `claim` that follows when the request succeeds; default both
   */
  async admitToPage(
    request: ViewerRequest,
    liveStreamId: string,
    query: string,
    step?: 'check' | 'claim',
  ): Promise<LiveAnswer> {
    const stream = await this.#streams.read(liveStreamId);
    if (stream === undefined) return undefined;
    const parameters = new URLSearchParams(query);
    const admission = await this.#gate.admit(resourceOf(liveStreamId, stream), {
      request,
      query: parameters,
      mayClaimToken: step !== 'check' && !isLinkPreview(request),
      beginsPlayback: step !== 'claim',
      cookiePath: `/live/${liveStreamId}`,
      token: stream.public ? undefined : (parameters.get('token') ?? undefined),
    });
    return answerFor(stream, admission);
  }

  /** Rechecks an admitted viewer. @param request of the admission */
  async stillAdmits(
    liveStreamId: string,
    access: PrivateAccess | undefined,
    request: ViewerRequest,
  ): Promise<boolean> {
    const stream = await this.#recentOrFound(liveStreamId);
    return stream !== undefined && this.#gate.stillAdmits(resourceOf(liveStreamId, stream), access, request);
  }

  /** Tells whether the viewer is still admitted. False once the live stream is no longer offered over WebRTC. */
  async stillAdmitsOverWebRtc(
    liveStreamId: string,
    access: PrivateAccess | undefined,
    request: ViewerRequest,
  ): Promise<boolean> {
    const stream = await this.#recentOrFound(liveStreamId);
    return stream?.ultraLowLatency === true && this.stillAdmits(liveStreamId, access, request);
  }

  /** The stream is private, and its viewer may have its media from a cache. */
  async admitToCache(
    request: ViewerRequest,
    liveStreamId: string,
    access: PrivateAccess,
  ): Promise<PlaybackAdmission | PlaybackRefusal | undefined> {
    const stream = await this.#recentOrFound(liveStreamId);
    return stream && this.#gate.admitToCache(resourceOf(liveStreamId, stream), access, request);
  }

  #admitTo(
    stream: FoundStream | undefined,
    { request, liveStreamId, token, session, query, ...requested }: LiveAdmissionRequest,
  ): Promise<LiveAnswer> | LiveAnswer {
    if (stream === undefined) return undefined;
    const answer = this.#gate.admit(resourceOf(liveStreamId, stream), {
      ...requested,
      request,
      token,
      pathSession: session,
      query: token === undefined ? noQuery : new URLSearchParams(query),
      cookiePath: `/private/${token}`,
    });
    // A request for the head has not claimed the token.
    const isOwn = session === undefined && request.method !== 'HEAD';
    return answer instanceof Promise
      ? answer.then(admission => showSession(answerFor(stream, admission), isOwn))
      : answerFor(stream, answer);
  }

  async #recentOrFound(liveStreamId: string): Promise<FoundStream | undefined> {
    return this.#streams.recent(liveStreamId) ?? this.#streams.find(liveStreamId);
  }
}

/** Players that fetch the playlist themselves read the session there. @param isOwn false for requests that come from a playlist, and those that are not a viewer's yet */
function showSession(answer: LiveAnswer, isOwn: boolean): LiveAnswer {
  if (answer === undefined || answer instanceof PlaybackRefusal || !isOwn) return answer;
  const avh = answer.access?.avh;
  return avh === undefined ? answer : { ...answer, headers: [...answer.headers, 'X-Token-Session', avh] };
}

function answerFor(
  stream: FoundStream,
  admission: PlaybackAdmission | PlaybackRefusal | undefined,
): LiveAnswer {
  if (admission === undefined || admission instanceof PlaybackRefusal) return admission;
  const { name, projectId, ultraLowLatency, viewerClips, listed, showViewers, isSandbox } = stream;
  const trafficOwner = { projectId, deliveryKind: 'live' } as const;
  const { startsAtMs, lastStartedAtMs } = stream;
  const shown = { listed, showViewers, startsAtMs, lastStartedAtMs, isSandbox };
  return { name, ultraLowLatency, viewerClips, ...shown, trafficOwner, ...admission };
}

function resourceOf(
  liveStreamId: string,
  { projectId, public: isPublic, policy }: FoundStream,
): PlaybackResource {
  return { id: liveStreamId, projectId, public: isPublic, policy, limits: undefined, clippedFrom: undefined };
}
