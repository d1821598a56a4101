import type { TLSSocket } from 'node:tls';
import type { Clock } from '../shared/clock.ts';
import type { PrivateSession, PrivateSessions } from './private-sessions.ts';
import type { ViewerRequest } from './viewer-reply.ts';
import type { VodAccess } from './vod-page.ts';
import type { VodEntry, VodSource } from './vod-source.ts';

/** A video that a viewer may see. */
export interface AdmittedVideo {
  readonly entry: VodEntry;
  /** Undefined for a public video. */
  readonly access: VodAccess | undefined;
  /** Headers that the answer carries: names and values in turn. */
  readonly headers: readonly string[];
}

/** What is asked for. */
export interface AdmissionRequest {
  readonly request: ViewerRequest;
  readonly videoId: string;
  /** The private token of the address. */
  readonly token: string | undefined;
  readonly query: URLSearchParams;
}

const cookieName = 'avh';
const mostCookies = 8;

/**
 * Decides who may see a video: everybody a public one, and a private one whoever has its token's session. The session is shown in
 * the query (`avh`), in the header `X-Token-Session` or in a cookie; or it is told by the viewer's address and user agent.
 */
export class VodGate {
  readonly #source: VodSource;
  readonly #sessions: PrivateSessions;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;

  constructor(options: {
    source: VodSource;
    sessions: PrivateSessions;
    clock: Clock;
    publicUrl: () => string;
  }) {
    this.#source = options.source;
    this.#sessions = options.sessions;
    this.#clock = options.clock;
    this.#publicUrl = options.publicUrl;
  }

  /**
   * The video, if this viewer may see it. A token is not needed for a public video, and useless.
   *
   * @param mayBind says of a video whether this request uses a token up that nobody has used yet
   */
  admit(
    { request, videoId, token, query }: AdmissionRequest,
    mayBind: (entry: VodEntry) => boolean,
  ): AdmittedVideo | undefined {
    const entry = this.#source.find(videoId);
    if (entry === undefined) return undefined;
    if (entry.public) return token === undefined ? { entry, access: undefined, headers: [] } : undefined;
    if (token === undefined) return undefined;
    const shown = shownSessions(request, query);
    const canBind = mayBind(entry);
    const session = this.#sessions.admit({
      resourceId: videoId,
      token,
      shown,
      client: clientOf(request),
      mayBind: canBind,
    });
    if (session === undefined) return undefined;
    const needsCookie = canBind && !shown.includes(session.sessionToken);
    return {
      entry,
      access: { token, avh: session.sessionToken },
      headers: needsCookie ? ['Set-Cookie', this.#cookie(request, videoId, session)] : [],
    };
  }

  /**
   * For whoever does not carry the query on. A page inside another site's needs `SameSite=None`, which browsers take with
   * `Secure` only, and browsers that keep sites apart need `Partitioned`.
   */
  #cookie(request: ViewerRequest, videoId: string, session: PrivateSession): string {
    const isSecure = isEncrypted(request) || this.#publicUrl().startsWith('https:');
    const seconds = Math.max(0, Math.floor((session.expiresAtMs - this.#clock.nowMs()) / 1000));
    const reach = isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax';
    return `${cookieName}=${session.sessionToken}; Path=/vod/${videoId}; Max-Age=${seconds}; HttpOnly; ${reach}`;
  }
}

function shownSessions(request: ViewerRequest, query: URLSearchParams): string[] {
  const { 'x-token-session': header, cookie } = request.headers;
  const shown = [query.get('avh'), typeof header === 'string' ? header : null];
  for (const [, value = ''] of (cookie ?? '').matchAll(/(?:^|;)\s*avh=([\w-]+)/g)) {
    if (shown.length < mostCookies) shown.push(value);
  }
  return shown.filter(value => value !== null && value !== '') as string[];
}

/** What a proxy says of the viewer's address counts beside the proxy's own: it can only tell clients apart that were alike. */
function clientOf({ headers, socket }: ViewerRequest): string {
  const via = headers['x-forwarded-for'] ?? '';
  return `${socket.remoteAddress ?? ''}\n${String(via)}\n${headers['user-agent'] ?? ''}`;
}

function isEncrypted(request: ViewerRequest): boolean {
  if ('stream' in request) return request.stream.session?.encrypted === true;
  return (request.socket as Partial<TLSSocket>).encrypted === true;
}
