import type { IsSecure, PeerRequest } from '../../../http/listener/client-address.ts';
import type { IsSameOrigin } from '../../../http/listener/same-origin.ts';
import type { Caller, SetHeader } from '../../../http/routing/caller.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/logger.ts';
import { basePathOf } from '../../../shared/network/base-path.ts';
import type { Environment } from '../../../store/tables.ts';
import type { CookieScope } from './own-cookie.ts';
import { type Session, sessionLifetimeMs } from './session.ts';
import { sessionCookie } from './session-cookie.ts';
import type { SessionsStore } from './sessions.store.ts';

const touchIntervalMs = 60_000;
const renewIntervalMs = 3_600_000;

const environmentHeader = 'millrace-environment';

/** The header that chooses a project of the account. */
const projectHeader = 'millrace-project';

/** Browsers do not let pages of other sites send this header. */
export function environmentOf({ headers }: PeerRequest): Environment | undefined {
  const name = headers[environmentHeader];
  return name === 'sandbox' || name === 'production' ? name : undefined;
}

/** Undefined for the first project of the account. */
export function projectOf({ headers }: PeerRequest): string | undefined {
  const id = headers[projectHeader];
  return typeof id === 'string' ? id : undefined;
}

/** The environment and project that a request with a session is for. */
interface SessionTarget {
  readonly environment: Environment;
  /** Undefined for the first project. */
  readonly pairId: string | undefined;
}

interface SessionGateOptions {
  readonly store: SessionsStore;
  readonly isOwnSite: IsSameOrigin;
  readonly isSecure: IsSecure;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class SessionGate {
  readonly #options: SessionGateOptions;
  /** One of the requests that a page sends together records the use. */
  readonly #touching = new Set<string>();

  constructor(options: SessionGateOptions) {
    this.#options = options;
  }

  /** Rejects requests that a page of another site made the browser send. */
  requireOwnSite(request: PeerRequest, options: { readonly needsOrigin: boolean }): void {
    if (!this.#options.isOwnSite(request, options)) throw new AppError('authorization-other-site');
  }

  /**
   * Records the session's use and renews the cookie at intervals.
   * @throws AppError `authorization-other-site`, `authentication-invalid-session` or
   * `authorization-suspended-account`
   */
  async sessionOf(request: PeerRequest, setHeader: SetHeader): Promise<Session> {
    this.requireOwnSite(request, { needsOrigin: false });
    const secret = this.secretOf(request);
    const nowMs = this.#options.clock.nowMs();
    const session = secret === undefined ? undefined : await this.#options.store.findBySecret(secret, nowMs);
    if (secret === undefined || session === undefined) throw new AppError('authentication-invalid-session');
    if (session.account.isSuspended) throw new AppError('authorization-suspended-account');
    if (nowMs - session.lastUsedAtMs >= touchIntervalMs) {
      await this.#touch(session, secret, request, setHeader);
    }
    return session;
  }

  /**
   * @throws as {@link sessionOf}, `authorization-account-not-upgraded` for production, and
   * `authorization-unknown-project`
   */
  async callerIn(
    { environment, pairId }: SessionTarget,
    request: PeerRequest,
    setHeader: SetHeader,
  ): Promise<Caller> {
    const { accountId, account, projects, actor, scopes } = await this.sessionOf(request, setHeader);
    const project = pairId === undefined ? projects[0] : projects.find(one => one.pairId === pairId);
    if (project === undefined) throw new AppError('authorization-unknown-project');
    if (environment === 'production' && !account.isUpgraded) {
      const detail = 'Use the sandbox.';
      throw new AppError('authorization-account-not-upgraded', undefined, { details: { detail } });
    }
    return { accountId, environment, projectId: project.projectIds[environment], actor, scopes };
  }

  /** Undefined for somebody who is not signed in. */
  async currentSession(request: PeerRequest): Promise<Session | undefined> {
    const secret = this.secretOf(request);
    return secret === undefined
      ? undefined
      : this.#options.store.findBySecret(secret, this.#options.clock.nowMs());
  }

  /** The account of somebody who is signed in and on a page of this server. Records no use. */
  async accountOf(request: PeerRequest): Promise<string | undefined> {
    const secret = this.secretOf(request);
    if (secret === undefined || !this.#options.isOwnSite(withReferrer(request), { needsOrigin: false }))
      return undefined;
    const session = await this.#options.store.findBySecret(secret, this.#options.clock.nowMs());
    return session === undefined || session.account.isSuspended ? undefined : session.accountId;
  }

  secretOf(request: PeerRequest): string | undefined {
    return sessionCookie.read(request.headers.cookie, this.cookieScope(request));
  }

  cookieFor(secret: string, request: PeerRequest): string {
    const lastsMs = secret === '' ? 0 : sessionLifetimeMs;
    return sessionCookie.write(secret, lastsMs, this.cookieScope(request));
  }

  cookieScope(request: PeerRequest): CookieScope {
    const { isSecure, publicUrl } = this.#options;
    return { isSecure: isSecure(request), basePath: basePathOf(publicUrl()) };
  }

  async #touch(session: Session, secret: string, request: PeerRequest, setHeader: SetHeader): Promise<void> {
    const { sessionId } = session;
    if (this.#touching.has(sessionId)) return;
    this.#touching.add(sessionId);
    const nowMs = this.#options.clock.nowMs();
    const isRenewed = nowMs + sessionLifetimeMs - session.expiresAtMs >= renewIntervalMs;
    try {
      await this.#options.store.touch(
        sessionId,
        nowMs,
        isRenewed ? nowMs + sessionLifetimeMs : session.expiresAtMs,
      );
      if (isRenewed) setHeader('Set-Cookie', this.cookieFor(secret, request));
    } catch (error) {
      this.#options.log.warn('session-use-not-recorded', { sessionId, error });
    } finally {
      this.#touching.delete(sessionId);
    }
  }
}

/** Frames of other sites name them nowhere else without TLS. */
function withReferrer({ headers, socket }: PeerRequest): PeerRequest {
  const { origin = headers.referer } = headers;
  return { headers: origin === undefined ? headers : { ...headers, origin }, socket };
}
