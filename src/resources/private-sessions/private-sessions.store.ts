import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Database } from '../../store/database.ts';
import { removeInBatches } from '../../store/remove-in-batches.ts';
import type { PrivateTokens } from './private-tokens.store.ts';

/** The contract's lifetime of a session. A token that nobody has used for as long can no longer be used. */
const lifetimeMs = 24 * 3_600_000;

/** Who asks, with which token. */
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
 * The sessions of private tokens. A token is signed, so nothing is stored of it before its first use, which binds it to one
 * session: the one whose token is told to that client. The same address and user agent are let in without showing it. Of
 * any resource, told by its id.
 *
 * A session ends a day after it began, and a token can be bound for a day after it was made: once the row of a session may be
 * removed, its token is dead by age.
 */
export class PrivateSessionsStore {
  readonly #database: Database;
  readonly #tokens: PrivateTokens;
  readonly #clock: Clock;
  /** Sessions by resource and token, so that a segment costs no query. */
  readonly #cache: LRUCache<string, BoundSession>;
  readonly #find;

  /** `maxKept`: sessions that are kept in memory; others are read anew from the database. */
  constructor(options: { database: Database; tokens: PrivateTokens; clock?: Clock; maxKept?: number }) {
    this.#database = options.database;
    this.#tokens = options.tokens;
    this.#clock = options.clock ?? systemClock;
    this.#cache = new LRUCache({ max: options.maxKept ?? 20_000 });
    this.#find = this.#database.sqlite.prepare<
      [Buffer, string],
      { client_hash: Buffer; expires_at_ms: number }
    >('SELECT client_hash, expires_at_ms FROM private_sessions WHERE token_hash = ? AND resource_id = ?');
  }

  /**
   * The session of a token, for a client that shows it or that used the token first; undefined for all others. A token that is
   * still unused becomes this client's if it `mayClaimToken`; else its answer is the session that it would get.
   */
  admit(request: AccessRequest): Session | undefined {
    const nowMs = this.#clock.nowMs();
    const session = this.#cached(request) ?? this.#read(request);
    if (session === undefined) return this.#bind(request, nowMs);
    if (session.expiresAtMs <= nowMs) return undefined;
    const isShown = request.sessionTokens.some(shown => isSameSecret(shown, session.sessionToken));
    return isShown || session.clientHash.equals(sha256(request.client)) ? session : undefined;
  }

  /** Removes the sessions that are over; the number of them. */
  removeExpired(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    for (const [key, session] of this.#cache) if (session.expiresAtMs <= nowMs) this.#cache.delete(key);
    const { queries } = this.#database;
    return removeInBatches(atMost => {
      const some = queries
        .selectFrom('private_sessions')
        .select('token_hash')
        .where('expires_at_ms', '<=', nowMs)
        .limit(atMost);
      return this.#database.run(queries.deleteFrom('private_sessions').where('token_hash', 'in', some));
    });
  }

  #cached({ resourceId, token }: AccessRequest): BoundSession | undefined {
    return this.#cache.get(`${resourceId}/${token}`);
  }

  #read({ resourceId, token }: AccessRequest): BoundSession | undefined {
    const sessionToken = this.#tokens.sessionTokenFor(token, resourceId);
    if (sessionToken === undefined) return undefined;
    const row = this.#find.get(sha256(token), resourceId);
    if (row === undefined) return undefined;
    return this.#addToCache(`${resourceId}/${token}`, {
      sessionToken,
      expiresAtMs: row.expires_at_ms,
      clientHash: row.client_hash,
    });
  }

  #bind({ resourceId, token, client, mayClaimToken }: AccessRequest, nowMs: number): Session | undefined {
    const mintedAtMs = this.#tokens.mintedAtMs(token, resourceId);
    const sessionToken = this.#tokens.sessionTokenFor(token, resourceId);
    if (mintedAtMs === undefined || sessionToken === undefined || nowMs >= mintedAtMs + lifetimeMs) {
      return undefined;
    }
    const session = { sessionToken, expiresAtMs: nowMs + lifetimeMs, clientHash: sha256(client) };
    if (!mayClaimToken) return session;
    this.#database.run(
      this.#database.queries.insertInto('private_sessions').values({
        token_hash: sha256(token),
        resource_id: resourceId,
        client_hash: session.clientHash,
        expires_at_ms: session.expiresAtMs,
      }),
    );
    return this.#addToCache(`${resourceId}/${token}`, session);
  }

  #addToCache(key: string, session: BoundSession): BoundSession {
    this.#cache.set(key, session);
    return session;
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In a time that does not tell how much of it is right. */
function isSameSecret(shown: string, secret: string): boolean {
  const given = Buffer.from(shown);
  const wanted = Buffer.from(secret);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
