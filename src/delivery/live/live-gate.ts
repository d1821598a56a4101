import { LRUCache } from 'lru-cache';
import type { TrafficOwner } from '../delivery-observer.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { TokenGate, type TokenGateOptions } from '../token-gate.ts';
import type { PrivatePath } from '../viewer-path.ts';
import type { LiveStreamDirectory } from './live-source.ts';

/** A live stream that a viewer may see. */
export interface AdmittedStream {
  readonly name: string;
  /** Whom what its viewers are sent is counted for. */
  readonly trafficOwner: TrafficOwner;
  /** Undefined for a public stream. */
  readonly access: PrivateAccess | undefined;
  /** Headers that the answer carries: names and values in turn. */
  readonly headers: readonly string[];
}

/** What is asked for of a live stream. */
export interface LiveAdmissionRequest extends PrivatePath {
  readonly request: ViewerRequest;
  readonly liveStreamId: string;
  readonly query: URLSearchParams;
  /** Whether this request uses a token up that nobody has used yet. */
  readonly mayClaimToken: boolean;
}

type FoundStream = NonNullable<ReturnType<LiveStreamDirectory['find']>>;

/** Dependencies of {@link LiveGate}. */
export interface LiveGateOptions extends TokenGateOptions {
  readonly streams: LiveStreamDirectory;
}

/** How long it holds what the directory said of a stream: so long may a change take to be seen. */
const streamTtlMs = 1000;

/**
 * Decides who may see a live stream: everybody a public one, and a private one whoever has its token's session. Parts of a stream that
 * plays cost no query: the stream is looked up once a second, and sessions are kept in memory.
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

  /** The stream, if this viewer may see what is at an address of it: a private one with its token, a public one without any. */
  admit(asked: LiveAdmissionRequest): AdmittedStream | undefined {
    return this.#admitTo(this.#find(asked.liveStreamId), asked);
  }

  /** The same for playlists and media of broadcasts, which are asked for many times a second. */
  admitToMedia(asked: LiveAdmissionRequest): AdmittedStream | undefined {
    return this.#admitTo(this.#lookUp(asked.liveStreamId), asked);
  }

  /** The same for the page and what it asks: they carry the token in the query, which says nothing where the stream is public. */
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

  /** Whether a viewer who was let in with this access, or without any, still may see a stream. */
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
    // Players that ask for the playlist themselves read the session there.
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
