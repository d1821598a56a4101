import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import { maxEntries } from '../../shared/lru-limit.ts';
import type { TrafficOwner } from '../delivery-observer.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { TokenGate, type TokenGateOptions } from '../token-gate.ts';
import type { PrivatePath } from '../viewer-path.ts';
import type { LiveStreamDirectory } from './live-source.ts';

export interface AdmittedStream {
  readonly name: string;
  readonly trafficOwner: TrafficOwner;
  readonly access: PrivateAccess | undefined;
  readonly headers: readonly string[];
  /** Offered over WebRTC too. */
  readonly ultraLowLatency: boolean;
}

export interface LiveAdmissionRequest extends PrivatePath {
  readonly request: ViewerRequest;
  readonly liveStreamId: string;
  readonly query: string;
  readonly mayClaimToken: boolean;
}

type FoundStream = NonNullable<Awaited<ReturnType<LiveStreamDirectory['find']>>>;

export interface LiveGateOptions extends TokenGateOptions {
  readonly streams: LiveStreamDirectory;
}

interface KnownStream {
  readonly stream: FoundStream;
  readonly readAtMs: number;
}

/** Changes of a stream affect its viewers after this delay. */
const streamTtlMs = 1000;
/** While the database does not answer, viewers go on with what was read last, as long as this. */
const maxStaleMs = 60_000;
const maxLookupMs = 500;

/** Looks streams up once a second and caches sessions, so requests for parts cost no query. */
export class LiveGate {
  readonly #streams: LiveStreamDirectory;
  readonly #tokens: TokenGate;
  readonly #clock: Clock;
  readonly #known: LRUCache<string, KnownStream>;
  /** Shared by the requests for media that come meanwhile. */
  readonly #lookups = new Map<string, Promise<FoundStream | undefined>>();

  constructor(options: LiveGateOptions) {
    this.#streams = options.streams;
    this.#tokens = new TokenGate(options);
    this.#clock = options.clock;
    this.#known = new LRUCache({
      ...maxEntries(10_000),
      ttl: maxStaleMs,
      ttlResolution: 0,
      perf: { now: () => options.clock.monotonicMs() },
    });
  }

  /** A private stream needs its token, a public one must have none. */
  async admit(asked: LiveAdmissionRequest): Promise<AdmittedStream | undefined> {
    return this.#admitTo(await this.#find(asked.liveStreamId), asked);
  }

  /** For playlists and media, which are requested many times a second. Responds at once where nothing is looked up. */
  admitToMedia(
    asked: LiveAdmissionRequest,
  ): Promise<AdmittedStream | undefined> | AdmittedStream | undefined {
    const stream = this.#recent(asked.liveStreamId);
    if (stream !== undefined) return this.#admitTo(stream, asked);
    return this.#lookUp(asked.liveStreamId).then(found => this.#admitTo(found, asked));
  }

  /** For pages, which carry the token in the query; a public stream ignores it. */
  async admitToPage(
    request: ViewerRequest,
    liveStreamId: string,
    query: string,
  ): Promise<AdmittedStream | undefined> {
    const stream = await this.#find(liveStreamId);
    if (stream === undefined) return undefined;
    if (stream.public) return publicAccess(stream);
    const token = new URLSearchParams(query).get('token');
    if (token === null) return undefined;
    const asked = { request, liveStreamId, query, mayClaimToken: true };
    return this.#admitHolder(stream, asked, token, `/live/${liveStreamId}`);
  }

  /** Rechecks an admitted viewer. */
  async stillAdmits(liveStreamId: string, access: PrivateAccess | undefined): Promise<boolean> {
    const stream = this.#recent(liveStreamId) ?? (await this.#lookUp(liveStreamId));
    if (stream === undefined) return false;
    return stream.public || (access !== undefined && (await this.#tokens.isOpen(liveStreamId, access)));
  }

  /** Also false once the live stream is no longer offered over WebRTC. */
  async stillAdmitsOverWebRtc(liveStreamId: string, access: PrivateAccess | undefined): Promise<boolean> {
    const stream = this.#recent(liveStreamId) ?? (await this.#lookUp(liveStreamId));
    return stream?.ultraLowLatency === true && this.stillAdmits(liveStreamId, access);
  }

  /** The stream is private, and its viewer shows the session. */
  async isSession(liveStreamId: string, access: PrivateAccess): Promise<boolean> {
    const stream = this.#recent(liveStreamId) ?? (await this.#lookUp(liveStreamId));
    return stream !== undefined && !stream.public && this.#tokens.isSession(liveStreamId, access);
  }

  #admitTo(
    stream: FoundStream | undefined,
    asked: LiveAdmissionRequest,
  ): Promise<AdmittedStream | undefined> | AdmittedStream | undefined {
    if (stream === undefined) return undefined;
    const { token } = asked;
    if (token === undefined) return stream.public ? publicAccess(stream) : undefined;
    return stream.public ? undefined : this.#admitToPrivate(stream, asked, token);
  }

  async #admitToPrivate(
    stream: FoundStream,
    asked: LiveAdmissionRequest,
    token: string,
  ): Promise<AdmittedStream | undefined> {
    const admitted = await this.#admitHolder(stream, asked, token, `/private/${token}`);
    if (admitted?.access === undefined || asked.session !== undefined) return admitted;
    // Players that fetch the playlist themselves read the session there.
    const { headers, access } = admitted;
    return { ...admitted, headers: [...headers, 'X-Token-Session', access.avh] };
  }

  async #admitHolder(
    { name, projectId, ultraLowLatency = false }: FoundStream,
    { request, liveStreamId, query, session, mayClaimToken }: LiveAdmissionRequest,
    token: string,
    cookiePath: string,
  ): Promise<AdmittedStream | undefined> {
    const holder = await this.#tokens.admit({
      ...{
        request,
        resourceId: liveStreamId,
        token,
        query: new URLSearchParams(query),
        pathSession: session,
        mayClaimToken,
        cookiePath,
      },
    });
    return holder && { name, ultraLowLatency, trafficOwner: { projectId, deliveryKind: 'live' }, ...holder };
  }

  #recent(liveStreamId: string): FoundStream | undefined {
    const known = this.#known.get(liveStreamId);
    if (known === undefined || this.#clock.monotonicMs() - known.readAtMs >= streamTtlMs) return undefined;
    return known.stream;
  }

  #lookUp(liveStreamId: string): Promise<FoundStream | undefined> {
    let lookup = this.#lookups.get(liveStreamId);
    if (lookup === undefined) {
      const found = this.#find(liveStreamId).finally(() => this.#lookups.delete(liveStreamId));
      const known = this.#known.get(liveStreamId)?.stream;
      lookup =
        known === undefined
          ? found
          : Promise.race([found.catch(() => known), sleep(maxLookupMs, known, { ref: false })]);
      this.#lookups.set(liveStreamId, lookup);
    }
    return lookup;
  }

  /** Does not cache unknown streams: one that was just created is seen at once. */
  async #find(liveStreamId: string): Promise<FoundStream | undefined> {
    const stream = await this.#streams.find(liveStreamId);
    if (stream === undefined) this.#known.delete(liveStreamId);
    else this.#known.set(liveStreamId, { stream, readAtMs: this.#clock.monotonicMs() });
    return stream;
  }
}

function publicAccess({ name, projectId, ultraLowLatency = false }: FoundStream): AdmittedStream {
  const trafficOwner = { projectId, deliveryKind: 'live' } as const;
  return { name, ultraLowLatency, trafficOwner, access: undefined, headers: [] };
}
