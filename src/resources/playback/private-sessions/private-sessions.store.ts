import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';
import type { Database } from '../../../store/database.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import type { PrivateTokens } from './private-tokens.store.ts';

/** The contract's lifetime of a session, and of an unused token. */
const lifetimeMs = 24 * 3_600_000;

interface AccessRequest {
  readonly resourceId: string;
  readonly token: string;
  readonly sessionTokens: readonly string[];
  readonly client: string;
  readonly mayClaimToken: boolean;
}

interface Session {
  readonly sessionToken: string;
  readonly expiresAtMs: number;
}

interface BoundSession extends Session {
  readonly clientHash: Buffer;
}

/**
 * A token is stored only at its first use, which binds it to one client: later requests must show the session
 * token, or come from the same address and user agent. A session ends a day after it began, and a token can
 * be bound for a day after it was minted: when a row may be removed, its token has expired.
 */
export class PrivateSessionsStore {
  readonly #database: Database;
  readonly #tokens: PrivateTokens;
  readonly #clock: Clock;
  /** Sessions by resource and token, so that a segment costs no query. */
  readonly #cache: LRUCache<string, BoundSession>;

  constructor(options: { database: Database; tokens: PrivateTokens; clock?: Clock; maxCached?: number }) {
    this.#database = options.database;
    this.#tokens = options.tokens;
    this.#clock = options.clock ?? systemClock;
    this.#cache = new LRUCache(maxEntries(options.maxCached ?? 20_000));
  }

  /**
   * Binds an unused token to this client if it `mayClaimToken`; otherwise returns the session that it could
   * have.
   */
  async admit(request: AccessRequest): Promise<Session | undefined> {
    const nowMs = this.#clock.nowMs();
    const bound = this.#cache.get(keyOf(request)) ?? (await this.#read(request));
    if (bound !== undefined) return isHolder(request, bound, nowMs) ? bound : undefined;
    const session = this.#newSession(request, nowMs);
    if (session === undefined || !request.mayClaimToken) return session;
    if (await this.#bind(request, session)) return session;
    // Another request was faster.
    const other = await this.#read(request);
    return other !== undefined && isHolder(request, other, nowMs) ? other : undefined;
  }

  removeExpired(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    for (const [key, session] of this.#cache) if (session.expiresAtMs <= nowMs) this.#cache.delete(key);
    const { queries } = this.#database;
    const expired = queries
      .selectFrom('private_sessions')
      .select('token_hash')
      .where('expires_at_ms', '<=', nowMs);
    return removeInBatches(count =>
      this.#database.run(
        queries.deleteFrom('private_sessions').where('token_hash', 'in', expired.limit(count)),
      ),
    );
  }

  async #read(request: AccessRequest): Promise<BoundSession | undefined> {
    const { resourceId, token } = request;
    const sessionToken = this.#tokens.sessionTokenFor(token, resourceId);
    if (sessionToken === undefined) return undefined;
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('private_sessions')
        .select(['client_hash', 'expires_at_ms'])
        .where('token_hash', '=', sha256(token))
        .where('resource_id', '=', resourceId),
    );
    if (row === undefined) return undefined;
    const session = { sessionToken, expiresAtMs: row.expires_at_ms, clientHash: row.client_hash };
    this.#cache.set(keyOf(request), session);
    return session;
  }

  #newSession({ resourceId, token, client }: AccessRequest, nowMs: number): BoundSession | undefined {
    const mintedAtMs = this.#tokens.mintedAtMs(token, resourceId);
    const sessionToken = this.#tokens.sessionTokenFor(token, resourceId);
    if (mintedAtMs === undefined || sessionToken === undefined || nowMs >= mintedAtMs + lifetimeMs) {
      return undefined;
    }
    return { sessionToken, expiresAtMs: nowMs + lifetimeMs, clientHash: sha256(client) };
  }

  /** Returns false when the token is bound already. */
  async #bind(request: AccessRequest, session: BoundSession): Promise<boolean> {
    const inserted = await this.#database.run(
      this.#database.queries
        .insertInto('private_sessions')
        .values({
          token_hash: sha256(request.token),
          resource_id: request.resourceId,
          client_hash: session.clientHash,
          expires_at_ms: session.expiresAtMs,
        })
        .onConflict(conflict => conflict.column('token_hash').doNothing()),
    );
    if (inserted > 0) this.#cache.set(keyOf(request), session);
    return inserted > 0;
  }
}

function isHolder({ sessionTokens, client }: AccessRequest, session: BoundSession, nowMs: number): boolean {
  if (session.expiresAtMs <= nowMs) return false;
  const isShown = sessionTokens.some(shown => isSameSecret(shown, session.sessionToken));
  return isShown || session.clientHash.equals(sha256(client));
}

function keyOf({ resourceId, token }: AccessRequest): string {
  return `${resourceId}/${token}`;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares in constant time. */
function isSameSecret(shown: string, secret: string): boolean {
  const given = Buffer.from(shown);
  const wanted = Buffer.from(secret);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
