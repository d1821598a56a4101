import { LRUCache } from 'lru-cache';
import type { TrafficOwner } from '../delivery-observer.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { TokenGate, type TokenGateOptions } from '../token-gate.ts';
import type { PrivatePath } from '../viewer-path.ts';
import type { LiveStreamDirectory } from './live-source.ts';

/** A live stream that a viewer has access to. */
export interface AdmittedStream {
  readonly name: string;
  /** The project that its traffic is counted for. */
  readonly trafficOwner: TrafficOwner;
  /** Undefined for a public stream. */
  readonly access: PrivateAccess | undefined;
  /** Headers of the response: names and values in turn. */
  readonly headers: readonly string[];
}

/** A viewer's request for a live stream. */
export interface LiveAdmissionRequest extends PrivatePath {
  readonly request: ViewerRequest;
  readonly liveStreamId: string;
  readonly query: URLSearchParams;
  /** The request claims the token if it is unused. */
  readonly mayClaimToken: boolean;
}

type FoundStream = NonNullable<ReturnType<LiveStreamDirectory['find']>>;

/** Dependencies of {@link LiveGate}. */
export interface LiveGateOptions extends TokenGateOptions {
  readonly streams: LiveStreamDirectory;
}

/** Delay after which a change of a stream takes effect on its viewers. */
const streamTtlMs = 1000;

/**
 * Admits viewers to live streams: everyone to a public one, holders of a token's session to a private one. Requests for parts cost no
 * query, because streams are looked up once a second and sessions are cached.
 */
export class LiveGate {
  readonly #streams: LiveStreamDirectory;
  readonly #tokens: TokenGate;
  readonly #streamCache: LRUCache<string, FoundStream>;

  constructor(options: LiveGateOptions) {
    this.#streams = options.streams;
    this.#tokens = new TokenGate(options);
    this.#streamCache = new LRUCache({
      max: 10_000,
      ttl: streamTtlMs,
      ttlResolution: 0,
      perf: { now: () => options.clock.monotonicMs() },
    });
  }

  /** Admits to addresses of a stream: with its token to a private one, without any to a public one. */
  admit(asked: LiveAdmissionRequest): AdmittedStream | undefined {
    return this.#admitTo(this.#find(asked.liveStreamId), asked);
  }

  /** The same for playlists and media, which are requested many times a second. */
  admitToMedia(asked: LiveAdmissionRequest): AdmittedStream | undefined {
    return this.#admitTo(this.#lookUp(asked.liveStreamId), asked);
  }

  /** The same for the page and its requests, which carry the token in the query; a public stream ignores it. */
  admitToPage(
    request: ViewerRequest,
    liveStreamId: string,
    query: URLSearchParams,
  ): AdmittedStream | undefined {
    const stream = this.#find(liveStreamId);
    if (stream === undefined) return undefined;
    if (stream.public) return publicAccess(stream);
    const token = query.get('token');
    if (token === null) return undefined;
    const asked = { request, liveStreamId, query, mayClaimToken: true };
    return this.#admitHolder(stream, asked, token, `/live/${liveStreamId}`);
  }

  /** Tells whether an admitted viewer still has access. */
  stillAdmits(liveStreamId: string, access: PrivateAccess | undefined): boolean {
    const stream = this.#lookUp(liveStreamId);
    if (stream === undefined) return false;
    return stream.public || (access !== undefined && this.#tokens.isOpen(liveStreamId, access));
  }

  #admitTo(stream: FoundStream | undefined, asked: LiveAdmissionRequest): AdmittedStream | undefined {
    if (stream === undefined) return undefined;
    const { token } = asked;
    if (token === undefined) return stream.public ? publicAccess(stream) : undefined;
    if (stream.public) return undefined;
    const admitted = this.#admitHolder(stream, asked, token, `/private/${token}`);
    if (admitted?.access === undefined || asked.session !== undefined) return admitted;
    // Players that fetch the playlist themselves read the session there.
    const { headers, access } = admitted;
    return { ...admitted, headers: [...headers, 'X-Token-Session', access.avh] };
  }

  #admitHolder(
    { name, projectId }: FoundStream,
    { request, liveStreamId, query, session, mayClaimToken }: LiveAdmissionRequest,
    token: string,
    cookiePath: string,
  ): AdmittedStream | undefined {
    const holder = this.#tokens.admit({
      ...{
        request,
        resourceId: liveStreamId,
        token,
        query,
        pathSession: session,
        mayClaimToken,
        cookiePath,
      },
    });
    return holder && { name, trafficOwner: { projectId, deliveryKind: 'live' }, ...holder };
  }

  #lookUp(liveStreamId: string): FoundStream | undefined {
    return this.#streamCache.get(liveStreamId) ?? this.#find(liveStreamId);
  }

  /** Does not cache that a stream is unknown: one that was just created is seen at once. */
  #find(liveStreamId: string): FoundStream | undefined {
    const stream = this.#streams.find(liveStreamId);
    if (stream === undefined) this.#streamCache.delete(liveStreamId);
    else this.#streamCache.set(liveStreamId, stream);
    return stream;
  }
}

function publicAccess({ name, projectId }: FoundStream): AdmittedStream {
  return { name, trafficOwner: { projectId, deliveryKind: 'live' }, access: undefined, headers: [] };
}
