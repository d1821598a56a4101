import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { Caller } from '../../../http/routing/caller.ts';
import type { RateLimiter } from '../../../http/routing/rate-limiter.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AppError, type ErrorCode } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Logger } from '../../../shared/logger.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { KeyOwner } from '../accounts/account.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import { KeyPairsStore } from '../accounts/key-pairs.store.ts';
import type { tokensSchema } from './auth.schema.ts';
import { parseAuthorization } from './credentials.ts';
import { TokensStore } from './tokens.store.ts';
import type { WrongKeyLimit } from './wrong-key-limit.ts';

const accessTokenSeconds = 3_600;
const refreshTokenMs = 30 * 24 * 3_600 * 1_000;
const touchIntervalMs = 60_000;

type Tokens = z.infer<typeof tokensSchema>;

interface AuthServiceOptions {
  readonly database: Database;
  readonly accounts: AccountsStore;
  readonly limiter: RateLimiter;
  readonly wrongKeys: WrongKeyLimit;
  readonly clock: Clock;
  readonly log: Logger;
}

export class AuthService {
  readonly #options: AuthServiceOptions;
  readonly #keys: KeyPairsStore;
  readonly #tokens: TokensStore;
  /** Last recorded use of each key, so that not every request writes. */
  readonly #touchedAtMs = new LRUCache<string, number>(maxEntries(10_000));

  constructor(options: AuthServiceOptions) {
    this.#options = options;
    this.#keys = new KeyPairsStore(options.database);
    this.#tokens = new TokensStore(options.database);
  }

  /** @throws AppError `authentication-*`, `authorization-suspended-account` or `too-many-requests` */
  async authenticate(authorization: string | undefined, address: string): Promise<Caller> {
    if (authorization === undefined) throw new AppError('authentication-missing-authorization-header');
    const credentials = parseAuthorization(authorization);
    if (credentials === undefined) throw new AppError('authentication-invalid-authorization-header-value');
    const nowMs = this.#options.clock.nowMs();
    const owner =
      credentials.scheme === 'basic'
        ? requireActive(await this.#ownerOfKey(credentials.apiKey, address), 'authentication-invalid-api-key')
        : requireActive(
            await this.#tokens.findOwner('access_tokens', credentials.accessToken, nowMs),
            'authentication-invalid-access-token',
          );
    await this.#touch(owner.apiKeyId, nowMs);
    return owner;
  }

  /**
   * Counts as a write of its project, because each call adds rows.
   * @throws AppError `authentication-invalid-user-credentials` (400), `authorization-suspended-account` (403)
   * or `too-many-requests` (429)
   */
  async exchangeApiKey(apiKey: string, address: string): Promise<Tokens> {
    const found = await this.#ownerOfKey(apiKey, address);
    const owner = requireActive(found, 'authentication-invalid-user-credentials');
    this.#options.limiter.require(owner, 'writes');
    return this.#options.database.transaction(transaction => this.#issue(owner.apiKeyId, transaction));
  }

  /** Consumes a refresh token. @throws as {@link exchangeApiKey} */
  async refresh(refreshToken: string): Promise<Tokens> {
    const code = 'authentication-invalid-user-credentials';
    const found = await this.#tokens.findOwner('refresh_tokens', refreshToken, this.#options.clock.nowMs());
    const owner = requireActive(found, code);
    this.#options.limiter.require(owner, 'writes');
    return this.#options.database.transaction(async transaction => {
      const isMine = await this.#tokens.removeRefreshToken(refreshToken, transaction);
      requireActive(isMine ? owner : undefined, code);
      return this.#issue(owner.apiKeyId, transaction);
    });
  }

  async #ownerOfKey(apiKey: string, address: string): Promise<KeyOwner | undefined> {
    const owner = await this.#options.accounts.ownerOfKey(apiKey);
    this.#options.wrongKeys.check(address, owner?.apiKeyId);
    return owner;
  }

  async #issue(apiKeyId: string, transaction: Transaction): Promise<Tokens> {
    const nowMs = this.#options.clock.nowMs();
    const access = `at.${randomBase62(43)}`;
    const refresh = `rt.${randomBase62(43)}`;
    const accessEndsAtMs = nowMs + accessTokenSeconds * 1_000;
    const refreshEndsAtMs = nowMs + refreshTokenMs;
    await this.#tokens.add(
      'access_tokens',
      { text: access, apiKeyId, expiresAtMs: accessEndsAtMs },
      transaction,
    );
    await this.#tokens.add(
      'refresh_tokens',
      { text: refresh, apiKeyId, expiresAtMs: refreshEndsAtMs },
      transaction,
    );
    return {
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      access_token: access,
      refresh_token: refresh,
    };
  }

  async #touch(apiKeyId: string, nowMs: number): Promise<void> {
    const touchedAtMs = this.#touchedAtMs.get(apiKeyId);
    if (touchedAtMs !== undefined && nowMs - touchedAtMs < touchIntervalMs) return;
    this.#touchedAtMs.set(apiKeyId, nowMs);
    try {
      await this.#keys.touch(apiKeyId, nowMs);
    } catch (error) {
      // Callers can still read when the disk is full.
      this.#options.log.warn('key-use-not-recorded', { apiKeyId, error });
    }
  }
}

function requireActive(owner: KeyOwner | undefined, code: ErrorCode): KeyOwner {
  // The contract gives these errors of `/auth/*` an empty name.
  const name = code === 'authentication-invalid-user-credentials' ? { name: '' } : {};
  if (owner === undefined) throw new AppError(code, undefined, { details: name });
  if (owner.standing === 'suspended') throw new AppError('authorization-suspended-account');
  if (owner.standing === 'not-upgraded') {
    const detail = 'The account is not upgraded. Use its sandbox key.';
    throw new AppError(code, undefined, { details: { ...name, detail } });
  }
  return owner;
}
