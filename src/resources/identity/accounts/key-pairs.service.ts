import type { Caller } from '../../../http/routing/caller.ts';
import { allScopes, requireScope, type Scope } from '../../../http/routing/scope.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Environment } from '../../../store/tables.ts';
import type { ProjectPair } from '../projects/project-pair.ts';
import type { KeyPairView } from './account.schema.ts';
import type { AccountsStore } from './accounts.store.ts';
import {
  type ApiKey,
  accessibleEnvironments,
  environments,
  type KeyPair,
  limitToEnvironments,
  maxKeyPairs,
} from './key-pair.ts';
import type { KeyPairsStore } from './key-pairs.store.ts';

/** 256 bits in base62. */
export const apiKeyLength = 43;

type NewKeyTexts = Readonly<Partial<Record<Environment, string>>>;

/**
 * A production credential can access both environments, a sandbox credential only the sandbox. None changes keys, or receives
 * the text of keys, that can do more than itself.
 */
export class KeyPairsService {
  readonly #store: KeyPairsStore;
  readonly #accounts: AccountsStore;
  readonly #clock: Clock;

  constructor(options: { store: KeyPairsStore; accounts: AccountsStore; clock: Clock }) {
    this.#store = options.store;
    this.#accounts = options.accounts;
    this.#clock = options.clock;
  }

  async find(caller: Caller, keyPairId: string, connection?: Connection): Promise<KeyPair | undefined> {
    const pair = await this.#store.find(caller.projectId, keyPairId, connection);
    return pair && limitToEnvironments(pair, accessibleEnvironments(caller.environment));
  }

  async list(
    caller: Caller,
    direction: 'asc' | 'desc',
    page: { currentPage: number; pageSize: number },
  ): Promise<{ views: KeyPairView[]; total: number }> {
    const reach = accessibleEnvironments(caller.environment);
    const all = await this.#store.list(caller.projectId);
    const pairs = all.flatMap(pair => limitToEnvironments(pair, reach) ?? []);
    if (direction === 'desc') pairs.reverse();
    const first = (page.currentPage - 1) * page.pageSize;
    const views = pairs.slice(first, first + page.pageSize).map(pair => viewOf(pair));
    return { views, total: pairs.length };
  }

  view(pair: KeyPair): KeyPairView {
    return viewOf(pair);
  }

  /** Creates a key per accessible environment. @throws AppError `api-key-limit-reached` */
  create(
    caller: Caller,
    { name, scopes = [...allScopes] }: { name?: string | undefined; scopes?: readonly Scope[] | undefined },
  ): Promise<KeyPairView> {
    const { accountId } = caller;
    requireAuthority(caller, accessibleEnvironments(caller.environment), scopes);
    return this.#accounts.changeAccess(caller.accountId, async transaction => {
      await this.#requireCredential(caller, transaction);
      const projects = await this.#projectIdsOf(caller, transaction);
      await this.#requireKeyCapacity(projects[caller.environment], caller.environment, transaction);
      const keys = accessibleEnvironments(caller.environment).map(environment => ({
        environment,
        projectId: projects[environment],
        text: randomBase62(apiKeyLength),
        userId: caller.actor.userId,
      }));
      const createdAtMs = this.#clock.nowMs();
      const keyPairId = await this.#store.add({ accountId, name, scopes, createdAtMs, keys }, transaction);
      const texts = Object.fromEntries(keys.map(key => [key.environment, key.text]));
      return viewOf(await this.#require(caller, keyPairId, transaction), texts);
    });
  }

  /**
   * New scopes apply at once, to tokens of the keys, too.
   * @throws AppError `authorization-production-credential-required` when they are those of a production key, too
   */
  async change(
    caller: Caller,
    { keyPairId }: KeyPair,
    { name, scopes }: { name?: string | null | undefined; scopes?: readonly Scope[] | undefined },
  ): Promise<KeyPairView> {
    if (name === undefined && scopes === undefined) return viewOf(await this.#require(caller, keyPairId));
    return this.#accounts.changeAccess(caller.accountId, async transaction => {
      const pair = await this.#requireWhole(caller, keyPairId, transaction);
      requireAuthority(caller, environmentsOf(pair), [...pair.scopes, ...(scopes ?? [])]);
      if (name !== undefined) await this.#store.rename(keyPairId, name, transaction);
      if (scopes !== undefined) await this.#store.setScopes(keyPairId, scopes, transaction);
      return viewOf(await this.#require(caller, keyPairId, transaction));
    });
  }

  /**
   * Ends the previous key at once, with all its tokens.
   * @throws AppError `authorization-production-credential-required`, or `api-key-limit-reached` when the pair
   * has no such key yet
   */
  async regenerate(caller: Caller, { keyPairId }: KeyPair, environment: Environment): Promise<KeyPairView> {
    const text = randomBase62(apiKeyLength);
    return this.#accounts.changeAccess(caller.accountId, async transaction => {
      await this.#requireCredential(caller, transaction);
      const pair = await this.#requireWhole(caller, keyPairId, transaction);
      requireAuthority(caller, [environment], pair.scopes);
      const projectId = (await this.#projectIdsOf(caller, transaction))[environment];
      if (pair.keys[environment] === undefined) {
        await this.#requireKeyCapacity(projectId, environment, transaction);
      }
      const key = { projectId, text, userId: caller.actor.userId };
      await this.#store.replaceKey(pair, key, this.#clock.nowMs(), transaction);
      return viewOf(await this.#require(caller, keyPairId, transaction), { [environment]: text });
    });
  }

  /**
   * Revokes a key and its tokens.
   * @throws AppError `authorization-production-credential-required`, `last-api-key` or `resource-not-found`
   */
  removeKey(caller: Caller, pair: KeyPair, environment: Environment): Promise<void> {
    return this.#revoke(caller, pair, [environment]);
  }

  /** Revokes the keys that the caller can access. @throws AppError `last-api-key`, with none revoked */
  remove(caller: Caller, pair: KeyPair): Promise<void> {
    return this.#revoke(caller, pair, environmentsOf(pair));
  }

  #revoke(caller: Caller, { keyPairId }: KeyPair, revoked: readonly Environment[]): Promise<void> {
    return this.#accounts.changeAccess(caller.accountId, async transaction => {
      const pair = await this.#requireWhole(caller, keyPairId, transaction);
      requireAuthority(caller, revoked, pair.scopes);
      const halves = revoked.flatMap(environment => pair.keys[environment] ?? []);
      if (halves.length === 0) {
        throw new AppError('resource-not-found', undefined, { details: { name: 'environment' } });
      }
      for (const { projectId, environment } of halves) {
        if ((await this.#store.countKeys(projectId, transaction)) > 1) continue;
        const detail = `This is the last key of the ${environment} environment. Create another key first, or regenerate this one.`;
        throw new AppError('last-api-key', undefined, { details: { name: environment, detail } });
      }
      await this.#store.revoke(pair, halves, this.#clock.nowMs(), transaction);
    });
  }

  /** Refuses keys for a session or key that ended meanwhile: they would outlive it. @throws AppError `authentication-*` */
  async #requireCredential({ actor }: Caller, transaction: Transaction): Promise<void> {
    if (actor.kind === 'user') return this.#accounts.requireSession(actor, transaction);
    if (actor.userId !== undefined) await transaction.lock('user', actor.userId);
    if (await this.#store.isValid(actor.apiKeyId, transaction)) return;
    throw new AppError('authentication-invalid-api-key');
  }

  /** @throws AppError `resource-not-found` when the project was deleted a moment ago */
  async #projectIdsOf({ projectId }: Caller, transaction: Transaction): Promise<ProjectPair['projectIds']> {
    const pair = await this.#accounts.projects.findByProject(projectId, transaction);
    if (pair === undefined) throw new AppError('resource-not-found');
    return pair.projectIds;
  }

  /** Counts each environment separately, so that sandbox keys cannot use up the limit of production. */
  async #requireKeyCapacity(
    projectId: string,
    environment: Environment,
    transaction: Transaction,
  ): Promise<void> {
    if ((await this.#store.countKeys(projectId, transaction)) < maxKeyPairs) return;
    const detail = `The ${environment} environment has ${maxKeyPairs} API keys, which is the maximum. Delete a key that you no longer use.`;
    throw new AppError('api-key-limit-reached', undefined, { details: { detail } });
  }

  async #require(caller: Caller, keyPairId: string, connection?: Connection): Promise<KeyPair> {
    return requireFound(await this.find(caller, keyPairId, connection));
  }

  /** Returns the pair with all its keys, also those that the caller cannot access. */
  async #requireWhole(caller: Caller, keyPairId: string, transaction: Transaction): Promise<KeyPair> {
    await this.#require(caller, keyPairId, transaction);
    return requireFound(await this.#store.find(caller.projectId, keyPairId, transaction));
  }
}

/**
 * Allows a change of keys of these environments that have these scopes.
 * @throws AppError `authorization-production-credential-required` or `authorization-insufficient-scope`
 */
function requireAuthority(caller: Caller, changed: readonly Environment[], given: readonly Scope[]): void {
  const accessible = accessibleEnvironments(caller.environment);
  if (!changed.every(environment => accessible.includes(environment))) {
    const detail =
      'A sandbox credential cannot change production keys, nor a pair that has one. Use a production credential.';
    throw new AppError('authorization-production-credential-required', undefined, {
      details: { name: 'environment', detail },
    });
  }
  for (const scope of given) requireScope(caller, scope);
}

function environmentsOf({ keys }: KeyPair): Environment[] {
  return environments.filter(environment => keys[environment] !== undefined);
}

function requireFound(pair: KeyPair | undefined): KeyPair {
  if (pair !== undefined) return pair;
  throw new AppError('resource-not-found', undefined, { details: { name: 'keyPairId' } });
}

function viewOf(
  { keyPairId, name, scopes, createdAtMs, keys }: KeyPair,
  texts: NewKeyTexts = {},
): KeyPairView {
  const { sandbox, production } = keys;
  return {
    keyPairId,
    name,
    scopes: [...scopes],
    createdAt: formatAtom(createdAtMs),
    sandbox: sandbox === undefined ? undefined : keyViewOf(sandbox, texts.sandbox),
    production: production === undefined ? undefined : keyViewOf(production, texts.production),
  };
}

function keyViewOf(
  { hint, createdAtMs, lastUsedAtMs }: ApiKey,
  text: string | undefined,
): NonNullable<KeyPairView['sandbox']> {
  return {
    apiKey: text,
    hint,
    createdAt: formatAtom(createdAtMs),
    lastUsedAt: lastUsedAtMs === undefined ? undefined : formatAtom(lastUsedAtMs),
  };
}
