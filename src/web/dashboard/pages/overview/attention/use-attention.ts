import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { can, projectKey, session } from '../../../state/session.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../../ui/hooks/use-load.ts';
import { readCheckSummary } from '../../server/check-summary.ts';
import type { AttentionSources } from './attention-items.ts';

type Further = Omit<AttentionSources, 'usage' | 'streams'>;

const refreshMs = 30_000;
const maxWebhooks = 10;
const maxRestreaming = 5;
const maxTrash = 25;

/** @param live streams that are live */
export function useAttention(live: readonly LiveStream[]): Loaded<Further> {
  const restreaming = live
    .filter(({ restreams }) => restreams.some(({ enabled = true }) => enabled))
    .slice(0, maxRestreaming);
  const key = `${projectKey.value} ${session.value?.role} ${restreaming.map(({ liveStreamId }) => liveStreamId).join()}`;
  const loaded = useLoad(key, signal => load(restreaming, signal));
  useInterval(refreshMs, loaded.reload);
  return loaded;
}

/** Leaves out what cannot be loaded: other parts of the page tell why. */
async function load(restreaming: readonly LiveStream[], signal: AbortSignal): Promise<Further> {
  const optional = <Value>(work: Promise<Value>) =>
    work.catch((): undefined => {
      signal.throwIfAborted();
      return undefined;
    });
  const isOwner = can('admin');
  const isOperator = isOwner && session.peek()?.account.isOperator === true;
  const [failedVideos, restreams, webhooks, hooks, trash, retention, invitations, server, users] =
    await Promise.all([
      can('upload') ? optional(loadFailedVideos(signal)) : undefined,
      Promise.all(
        restreaming.map(async stream => ({
          stream,
          restreams:
            (await optional(call('GET /live-streams/{liveStreamId}/restreams', { params: stream, signal })))
              ?.data ?? [],
        })),
      ),
      isOwner ? optional(loadWebhooks(signal)) : undefined,
      isOwner ? optional(call('GET /hooks', { signal })) : undefined,
      optional(
        call('GET /discarded/videos', {
          query: { pageSize: maxTrash, sortBy: 'updatedAt', sortOrder: 'asc' },
          signal,
        }),
      ),
      optional(call('GET /account/retention', { signal })),
      isOwner ? optional(call('GET /account/invitations', { query: { pageSize: 25 }, signal })) : undefined,
      isOperator ? optional(call('GET /server', { signal })) : undefined,
      isOperator
        ? optional(call('GET /server/unverified-users', { query: { pageSize: 1 }, signal }))
        : undefined,
    ]);
  return {
    failedVideos,
    restreams,
    webhooks,
    hooks: [hooks?.publish, hooks?.play].filter(hook => hook != null),
    trash: trash?.data,
    retention,
    failedInvitations: invitations?.data
      .filter(({ mail }) => mail?.status === 'failed')
      .map(({ email }) => email),
    server,
    unverifiedUsers: users?.pagination.itemsTotal,
    checks: isOperator ? readCheckSummary() : undefined,
  };
}

async function loadFailedVideos(signal: AbortSignal): Promise<Further['failedVideos']> {
  const { data, pagination } = await call('GET /videos', {
    query: { status: 'failed', pageSize: 1, sortBy: 'createdAt', sortOrder: 'desc' },
    signal,
  });
  const [newest] = data;
  if (newest === undefined) return undefined;
  const { encoding } = await call('GET /videos/{videoId}/status', { params: newest, signal });
  return { total: pagination.itemsTotal, newest, failure: encoding.failure };
}

async function loadWebhooks(signal: AbortSignal): Promise<Further['webhooks']> {
  const { data } = await call('GET /webhooks', { query: { pageSize: maxWebhooks }, signal });
  return Promise.all(
    data.map(async webhook => {
      const deliveries = await call('GET /webhooks/{webhookId}/deliveries', {
        params: webhook,
        query: { pageSize: 1, sortBy: 'createdAt', sortOrder: 'desc' },
        signal,
      });
      return { webhook, newest: deliveries.data[0] };
    }),
  );
}
