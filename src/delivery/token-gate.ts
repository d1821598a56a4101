import { timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../shared/clock.ts';
import { basePathOf } from '../shared/network/base-path.ts';
import type { PrivateAccess, PrivateSession, PrivateSessions } from './private-sessions.ts';
import type { ViewerRequest } from './responses/exchange.ts';

interface TokenHolder {
  readonly access: PrivateAccess;
  readonly headers: readonly string[];
}

interface TokenAdmissionRequest {
  readonly request: ViewerRequest;
  readonly resourceId: string;
  readonly token: string;
  readonly query: URLSearchParams;
  readonly pathSession?: string | undefined;
  readonly mayClaimToken: boolean;
  readonly cookiePath: string;
}

export interface TokenGateOptions {
  readonly sessions: PrivateSessions;
  readonly clock: Clock;
  readonly publicUrl: () => string;
}

const cookieName = 'avh';
const maxCookies = 8;

/** Finds sessions in the query (`avh`), `X-Token-Session`, a cookie, the path, or by address and agent. */
export class TokenGate {
  readonly #sessions: PrivateSessions;
  readonly #clock: Clock;
  readonly #publicUrl: () => string;

  constructor(options: TokenGateOptions) {
    this.#sessions = options.sessions;
    this.#clock = options.clock;
    this.#publicUrl = options.publicUrl;
  }

  async admit(question: TokenAdmissionRequest): Promise<TokenHolder | undefined> {
    const { request, resourceId, token, pathSession } = question;
    // Previews of links ask for the head alone: the token stays for whoever opens it.
    const mayClaimToken = question.mayClaimToken && request.method !== 'HEAD';
    const sessionTokens = sessionTokensOf(request, question.query);
    if (pathSession !== undefined) sessionTokens.push(pathSession);
    const session = await this.#sessions.admit({
      resourceId,
      token,
      sessionTokens,
      client: clientOf(request),
      mayClaimToken,
    });
    if (session === undefined) return undefined;
    const needsCookie = mayClaimToken && !sessionTokens.includes(session.sessionToken);
    const isShown = question.mayClaimToken || sessionTokens.includes(session.sessionToken);
    return {
      access: { token, avh: isShown ? session.sessionToken : undefined },
      headers: needsCookie ? ['Set-Cookie', this.#cookie(request, question.cookiePath, session)] : [],
    };
  }

  async isOpen(resourceId: string, { token, avh = '' }: PrivateAccess): Promise<boolean> {
    const question = { resourceId, token, sessionTokens: [avh], client: '', mayClaimToken: false };
    return (await this.#sessions.admit(question)) !== undefined;
  }

  /** Admits who shows the session, from any address. An unused token has no session to show, and stays unused. */
  async isSession(resourceId: string, { token, avh = '' }: PrivateAccess): Promise<boolean> {
    const question = { resourceId, token, sessionTokens: [avh], client: '', mayClaimToken: false };
    const session = await this.#sessions.admit(question);
    const [shown, wanted] = [Buffer.from(avh), Buffer.from(session?.sessionToken ?? '')];
    return session !== undefined && shown.length === wanted.length && timingSafeEqual(shown, wanted);
  }

  /**
   * Returns a cookie for clients that do not repeat the query. A page embedded in another site needs
   * `SameSite=None`, which browsers accept with `Secure` only; those that partition storage need `Partitioned`.
   */
  #cookie(request: ViewerRequest, path: string, session: PrivateSession): string {
    const isSecure = isEncrypted(request) || this.#publicUrl().startsWith('https:');
    const seconds = Math.max(0, Math.floor((session.expiresAtMs - this.#clock.nowMs()) / 1000));
    const reach = isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax';
    return `${cookieName}=${session.sessionToken}; Path=${basePathOf(this.#publicUrl())}${path}; Max-Age=${seconds}; HttpOnly; ${reach}`;
  }
}

function sessionTokensOf(request: ViewerRequest, query: URLSearchParams): string[] {
  const { 'x-token-session': header, cookie } = request.headers;
  const shown = [query.get('avh'), typeof header === 'string' ? header : null];
  for (const [, value = ''] of (cookie ?? '').matchAll(/(?:^|;)\s*avh=([\w-]+)/g)) {
    if (shown.length < maxCookies) shown.push(value);
  }
  return shown.filter(value => value !== null && value !== '') as string[];
}

/** Adds the address that a proxy reports: it can only tell apart clients that looked alike. */
export function clientOf({ headers, socket }: ViewerRequest): string {
  const via = headers['x-forwarded-for'] ?? '';
  return `${socket.remoteAddress ?? ''}\n${String(via)}\n${headers['user-agent'] ?? ''}`;
}

/** User agents of chats, mail and social networks. Phones of the brand Cubot name it. */
const previewAgents =
  /(?<!cu)bot\b|facebookexternalhit|whatsapp\/|uripreview|viber\/|mastodon|embedly|iframely|bingpreview/i;

/** Headers of browsers that load a page before, or in place of, its visit. */
const purposeHeaders = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * True for the services that show a link with its title, and for browsers that load a link under the pointer. They open the page, without
 * playing, before the person that the link is for: a page must not be their use of the token. A viewer who is taken for one claims it with
 * the first playlist.
 */
export function isLinkPreview({ method, headers }: ViewerRequest): boolean {
  if (method !== 'GET') return false;
  const isEarly = purposeHeaders.some(name =>
    /^(?:prefetch|prerender|preview)/i.test(String(headers[name] ?? '')),
  );
  return isEarly || previewAgents.test(headers['user-agent'] ?? '');
}

function isEncrypted(request: ViewerRequest): boolean {
  if ('stream' in request) return request.stream.session?.encrypted === true;
  return (request.socket as Partial<TLSSocket>).encrypted === true;
}
