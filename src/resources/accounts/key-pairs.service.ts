import type { Caller } from '../../http/routing/caller.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { randomBase62 } from '../../shared/ids.ts';
import type { Environment } from '../../store/account-tables.ts';
import type { KeyPairView } from './account.schema.ts';
import type { AccountsStore } from './accounts.store.ts';
import {
  type ApiKey,
  accessibleEnvironments,
  type KeyPair,
  limitToEnvironments,
  maxKeyPairs,
} from './key-pair.ts';
import type { KeyPairsStore } from './key-pairs.store.ts';

/** 256 bits in base62. */
export const apiKeyLength = 43;

type NewKeyTexts = Readonly<Partial<Record<Environment, string>>>;

/** A production credential can access both environments, a sandbox credential only the sandbox. */
export class KeyPairsService {
  readonly #store: KeyPairsStore;
  readonly #accounts: AccountsStore;
  readonly #clock: Clock;

  constructor(options: { store: KeyPairsStore; accounts: AccountsStore; clock: Clock }) {
    this.#store = options.store;
    this.#accounts = options.accounts;
    this.#clock = options.clock;
  }

  find(caller: Caller, keyPairId: string): KeyPair | undefined {
    const pair = this.#store.find(caller.accountId, keyPairId);
    return pair && limitToEnvironments(pair, accessibleEnvironments(caller.environment));
  }

  list(
    caller: Caller,
    direction: 'asc' | 'desc',
    page: { currentPage: number; pageSize: number },
  ): { views: KeyPairView[]; total: number } {
    const reach = accessibleEnvironments(caller.environment);
    const pairs = this.#store
      .listByAccount(caller.accountId)
      .flatMap(pair => limitToEnvironments(pair, reach) ?? []);
    if (direction === 'desc') pairs.reverse();
    const first = (page.currentPage - 1) * page.pageSize;
    const views = pairs.slice(first, first + page.pageSize).map(pair => viewOf(pair));
    return { views, total: pairs.length };
  }

  view(pair: KeyPair): KeyPairView {
    return viewOf(pair);
  }

  /** Creates a key per accessible environment. @throws AppError `api-key-limit-reached` */
  create(caller: Caller, name: string | undefined): KeyPairView {
    const { accountId } = caller;
    const projects = this.#store.projectIdsOf(accountId);
    this.#requireKeyCapacity(projects[caller.environment], caller.environment);
    const keys = accessibleEnvironments(caller.environment).map(environment => ({
      environment,
      projectId: projects[environment],
      text: randomBase62(apiKeyLength),
    }));
    const keyPairId = this.#store.add({ accountId, name, createdAtMs: this.#clock.nowMs(), keys });
    this.#accounts.clearOwnerCache();
    return this.#reloadView(
      caller,
      keyPairId,
      Object.fromEntries(keys.map(key => [key.environment, key.text])),
    );
  }

  rename(caller: Caller, { keyPairId }: KeyPair, name: string | null | undefined): KeyPairView {
    if (name !== undefined) this.#store.rename(keyPairId, name);
    return this.#reloadView(caller, keyPairId);
  }

  /**
   * Ends the previous key at once, with all its tokens.
   * @throws AppError `authorization-production-credential-required`, or `api-key-limit-reached` when the pair
   * has no such key yet
   */
  regenerate(caller: Caller, pair: KeyPair, environment: Environment): KeyPairView {
    this.#requireAccess(caller, environment);
    const text = randomBase62(apiKeyLength);
    const projectId = this.#store.projectIdsOf(caller.accountId)[environment];
    if (pair.keys[environment] === undefined) this.#requireKeyCapacity(projectId, environment);
    this.#store.replaceKey(pair, { projectId, text }, this.#clock.nowMs());
    this.#accounts.clearOwnerCache();
    return this.#reloadView(caller, pair.keyPairId, { [environment]: text });
  }

  /**
   * Also ends the key's tokens.
   * @throws AppError `authorization-production-credential-required`, `last-api-key` or `resource-not-found`
   */
  removeKey(caller: Caller, pair: KeyPair, environment: Environment): void {
    this.#requireAccess(caller, environment);
    const half = pair.keys[environment];
    if (half === undefined) {
      throw new AppError('resource-not-found', undefined, { details: { name: 'environment' } });
    }
    this.#revoke(pair, [half]);
  }

  /** Revokes the keys that the caller can access. @throws AppError `last-api-key`, with none revoked */
  remove(pair: KeyPair): void {
    this.#revoke(pair, Object.values(pair.keys));
  }

  #revoke(pair: KeyPair, halves: readonly ApiKey[]): void {
    for (const { projectId, environment } of halves) {
      if (this.#store.countKeys(projectId) > 1) continue;
      const detail = `This is the last key of the ${environment} environment. Create another key first, or regenerate this one.`;
      throw new AppError('last-api-key', undefined, { details: { name: environment, detail } });
    }
    this.#store.revoke(pair, halves, this.#clock.nowMs());
    this.#accounts.clearOwnerCache();
  }

  /** Counts each environment separately, so that sandbox keys cannot use up the limit of production. */
  #requireKeyCapacity(projectId: string, environment: Environment): void {
    if (this.#store.countKeys(projectId) < maxKeyPairs) return;
    const detail = `The ${environment} environment has ${maxKeyPairs} API keys, which is the maximum. Delete a key that you no longer use.`;
    throw new AppError('api-key-limit-reached', undefined, { details: { detail } });
  }

  #requireAccess(caller: Caller, environment: Environment): void {
    if (accessibleEnvironments(caller.environment).includes(environment)) return;
    const detail = 'A sandbox credential cannot access production keys. Use a production credential.';
    throw new AppError('authorization-production-credential-required', undefined, {
      details: { name: 'environment', detail },
    });
  }

  #reloadView(caller: Caller, keyPairId: string, texts: NewKeyTexts = {}): KeyPairView {
    const pair = this.find(caller, keyPairId);
    if (pair === undefined) {
      throw new AppError('resource-not-found', undefined, { details: { name: 'keyPairId' } });
    }
    return viewOf(pair, texts);
  }
}

function viewOf({ keyPairId, name, createdAtMs, keys }: KeyPair, texts: NewKeyTexts = {}): KeyPairView {
  const { sandbox, production } = keys;
  return {
    keyPairId,
    ...(name === undefined ? {} : { name }),
    createdAt: formatAtom(createdAtMs),
    ...(sandbox === undefined ? {} : { sandbox: keyViewOf(sandbox, texts.sandbox) }),
    ...(production === undefined ? {} : { production: keyViewOf(production, texts.production) }),
  };
}

function keyViewOf(
  { hint, createdAtMs, lastUsedAtMs }: ApiKey,
  text: string | undefined,
): NonNullable<KeyPairView['sandbox']> {
  return {
    ...(text === undefined ? {} : { apiKey: text }),
    ...(hint === undefined ? {} : { hint }),
    createdAt: formatAtom(createdAtMs),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAt: formatAtom(lastUsedAtMs) }),
  };
}
