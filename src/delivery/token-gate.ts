import type { TLSSocket } from 'node:tls';
import type { Clock } from '../shared/clock.ts';
import type { PrivateAccess, PrivateSession, PrivateSessions } from './private-sessions.ts';
import type { ViewerRequest } from './responses/exchange.ts';

/** A viewer who has the session of a private token. */
export interface TokenHolder {
  readonly access: PrivateAccess;
  /** Headers that the answer carries: names and values in turn. */
  readonly headers: readonly string[];
}

/** What is asked for with a private token. */
export interface TokenAdmissionRequest {
  readonly request: ViewerRequest;
  /** Id of the video or live stream. */
  readonly resourceId: string;
  readonly token: string;
  readonly query: URLSearchParams;
  /** The session that the path carries, where it does. */
  readonly pathSession?: string | undefined;
  /** Whether this request uses a token up that nobody has used yet. */
  readonly mayClaimToken: boolean;
  /** Where the cookie of its session is sent to. */
  readonly cookiePath: string;
}

/** What a gate for private things is made with. */
export interface TokenGateOptions {
  readonly sessions: PrivateSessions;
  readonly clock: Clock;
  /** The server's public address, without a slash at its end. */
  readonly publicUrl: () => string;
}

const cookieName = 'avh';
const maxCookies = 8;

/**
 * Decides who may see what is private: whoever has its token's session. The session is shown in the query (`avh`), in the header
 * `X-Token-Session`, in a cookie or in the path; or it is told by the viewer's address and user agent.
 */
export class TokenGate {
  readonly #sessions: PrivateSessions;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;

  constructor(options: TokenGateOptions) {
    this.#sessions = options.sessions;
    this.#clock = options.clock;
    this.#publicUrl = options.publicUrl;
  }

  /** The session, for a viewer who has it or gets it by this request. */
  admit(question: TokenAdmissionRequest): TokenHolder | undefined {
    const { request, resourceId, token, pathSession, mayClaimToken } = question;
    const sessionTokens = sessionTokensOf(request, question.query);
    if (pathSession !== undefined) sessionTokens.push(pathSession);
    const session = this.#sessions.admit({
      resourceId,
      token,
      sessionTokens,
      client: clientOf(request),
      mayClaimToken,
    });
    if (session === undefined) return undefined;
    const needsCookie = mayClaimToken && !sessionTokens.includes(session.sessionToken);
    return {
      access: { token, avh: session.sessionToken },
      headers: needsCookie ? ['Set-Cookie', this.#cookie(request, question.cookiePath, session)] : [],
    };
  }

  /** Whether a viewer who was let in once still has a session. */
  isOpen(resourceId: string, { token, avh }: PrivateAccess): boolean {
    const question = { resourceId, token, sessionTokens: [avh], client: '', mayClaimToken: false };
    return this.#sessions.admit(question) !== undefined;
  }

  /**
   * For whoever does not carry the query on. A page inside another site's needs `SameSite=None`, which browsers take with
   * `Secure` only, and browsers that keep sites apart need `Partitioned`.
   */
  #cookie(request: ViewerRequest, path: string, session: PrivateSession): string {
    const isSecure = isEncrypted(request) || this.#publicUrl().startsWith('https:');
    const seconds = Math.max(0, Math.floor((session.expiresAtMs - this.#clock.nowMs()) / 1000));
    const reach = isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax';
    return `${cookieName}=${session.sessionToken}; Path=${path}; Max-Age=${seconds}; HttpOnly; ${reach}`;
  }
}

/** How long an answer may be kept: what was got with a session, by its viewer alone. */
export function cacheControlFor(access: PrivateAccess | undefined, caching: string): string {
  return access === undefined ? caching : `private, ${caching}`;
}

function sessionTokensOf(request: ViewerRequest, query: URLSearchParams): string[] {
  const { 'x-token-session': header, cookie } = request.headers;
  const shown = [query.get('avh'), typeof header === 'string' ? header : null];
  for (const [, value = ''] of (cookie ?? '').matchAll(/(?:^|;)\s*avh=([\w-]+)/g)) {
    if (shown.length < maxCookies) shown.push(value);
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
