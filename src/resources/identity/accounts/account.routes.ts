import type { Caller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { type RateLimits, rateClasses, ratesOf } from '../../../http/routing/rate-limiter.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Environment } from '../../../store/tables.ts';
import {
  type AccountView,
  accountSchema,
  keyPairChangesSchema,
  keyPairCreationSchema,
  keyPairListSchema,
  keyPairSchema,
  keyPairsQuerySchema,
} from './account.schema.ts';
import type { AccountsStore } from './accounts.store.ts';
import { environments, type KeyPair, maxKeyPairs } from './key-pair.ts';
import type { KeyPairsService } from './key-pairs.service.ts';

interface AccountRoutesOptions {
  readonly accounts: AccountsStore;
  readonly keyPairs: KeyPairsService;
  readonly limits: {
    readonly webhooks: number;
    readonly rates: RateLimits;
    /** 0 when the trash is turned off. */
    readonly videoRestoreDays: () => number;
  };
  readonly ingest: () => IngestAddresses;
}

export interface IngestAddresses {
  readonly rtmp: string;
  readonly rtmps: string | undefined;
  readonly srt: string | undefined;
  readonly whip: string | undefined;
}

const credentialScope =
  'A production credential can access the keys of both environments. A sandbox credential can access sandbox keys only: it lists, ' +
  'creates, regenerates and deletes pairs without their production keys, and changes no pair that has one.';
const atOnce = 'The old key stops working at once, and so do its tokens.';

export function accountRoutes({ accounts, keyPairs, limits, ingest }: AccountRoutesOptions): Route[] {
  const tag = 'Account';
  const keyPairId = 'Id of the pair.';
  const pair = {
    tag,
    auth: 'key',
    params: { keyPairId },
    find: ({ params, caller }: { params: { keyPairId: string }; caller: Caller }) =>
      keyPairs.find(caller, params.keyPairId),
  } as const;
  const key = {
    path: '/account/api-keys/{keyPairId}/{environment}',
    tag,
    auth: 'key',
    params: { keyPairId, environment: 'Which key of the pair: `sandbox` or `production`.' },
    find: async ({
      params,
      caller,
    }: {
      params: { keyPairId: string; environment: string };
      caller: Caller;
    }) => findKey(await keyPairs.find(caller, params.keyPairId), params.environment),
  } as const;
  const shown = { description: 'The pair.', schema: keyPairSchema };
  const shownOnce = { description: 'The pair, with the new key.', schema: keyPairSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/account',
      tag,
      summary: 'Get your account',
      auth: 'key',
      success: { status: 200, description: 'The account.', schema: accountSchema },
      handle: ({ caller }) => accountView(caller, { accounts, limits, ingest }),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/account/api-keys',
      tag,
      summary: 'List API key pairs',
      description: `${credentialScope} It does not list pairs that have a production key only.`,
      auth: 'key',
      query: keyPairsQuerySchema,
      success: { status: 200, description: 'A page of pairs.', schema: keyPairListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const { direction } = sortOf(query, 'createdAt');
        const { views, total } = await keyPairs.list(caller, direction, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      path: '/account/api-keys',
      tag,
      summary: 'Create an API key pair',
      description: `The keys are only in this response. ${credentialScope}`,
      auth: 'key',
      body: jsonBody(keyPairCreationSchema),
      success: { status: 201, description: 'The pair, with its keys.', schema: keyPairSchema },
      errors: ['api-key-limit-reached'],
      isAtomic: true,
      handle: ({ caller, body }) => keyPairs.create(caller, body),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/account/api-keys/{keyPairId}',
      summary: 'Get an API key pair',
      ...pair,
      success: { status: 200, ...shown },
      handle: ({ found }) => keyPairs.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      path: '/account/api-keys/{keyPairId}',
      summary: 'Change an API key pair',
      description: `New scopes apply within a second, to tokens of the keys, too. ${credentialScope}`,
      ...pair,
      body: jsonBody(keyPairChangesSchema),
      success: { status: 200, ...shown },
      errors: ['authorization-production-credential-required'],
      isAtomic: true,
      handle: ({ caller, found, body }) => keyPairs.change(caller, found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      path: '/account/api-keys/{keyPairId}',
      summary: 'Delete an API key pair',
      description: `${atOnce} ${credentialScope} The last key of an environment cannot be deleted.`,
      ...pair,
      success: { status: 204, description: 'Deleted.' },
      errors: ['last-api-key'],
      isAtomic: true,
      handle: ({ caller, found }) => keyPairs.remove(caller, found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      summary: 'Regenerate an API key',
      action: 'api-key.regenerate',
      description: `${atOnce} The new key is only in this response. A pair without this key gets one.`,
      ...key,
      success: { status: 201, ...shownOnce },
      errors: ['authorization-production-credential-required', 'api-key-limit-reached'],
      isAtomic: true,
      handle: ({ caller, found }) => keyPairs.regenerate(caller, found.pair, found.environment),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      summary: 'Delete an API key',
      action: 'api-key.revoke',
      description: `${atOnce} The last key of an environment cannot be deleted.`,
      ...key,
      success: { status: 204, description: 'Deleted.' },
      errors: ['authorization-production-credential-required', 'last-api-key'],
      isAtomic: true,
      handle: ({ caller, found }) => keyPairs.removeKey(caller, found.pair, found.environment),
    }),
  ];
}

function findKey(
  pair: KeyPair | undefined,
  name: string,
): { pair: KeyPair; environment: Environment } | undefined {
  // Names the key pair: the error would name the last parameter of the path.
  if (pair === undefined)
    throw new AppError('resource-not-found', undefined, { details: { name: 'keyPairId' } });
  const environment = environments.find(known => known === name);
  return environment && { pair, environment };
}

async function accountView(
  { accountId, environment, projectId }: Caller,
  { accounts, limits: { webhooks, rates, videoRestoreDays }, ingest }: Omit<AccountRoutesOptions, 'keyPairs'>,
): Promise<AccountView> {
  const account = await accounts.find(accountId);
  const project = await accounts.projects.findByProject(projectId);
  if (account === undefined || project === undefined) throw new AppError('resource-not-found');
  const { name, email, createdAtMs, isUpgraded: upgraded, isOperator } = account;
  const restoreDays = videoRestoreDays();
  const ofEnvironment = ratesOf(rates, environment);
  const limited = rateClasses
    .map(name => [name, ofEnvironment[name]] as const)
    .filter(([, limit]) => limit > 0);
  const { rtmp, rtmps, srt, whip } = ingest();
  return {
    accountId,
    name,
    email,
    createdAt: formatAtom(createdAtMs),
    upgraded,
    ...(isOperator ? { operator: true } : {}),
    environment,
    projectId,
    projectName: project.name,
    limits: {
      apiKeyPairs: maxKeyPairs,
      webhooks,
      requestsPerMinute: Object.fromEntries(limited),
      ...(restoreDays > 0 ? { videoRestoreDays: restoreDays } : {}),
    },
    ingest: {
      rtmp,
      rtmps,
      srt,
      whip,
    },
  };
}
