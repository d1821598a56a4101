import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { tell } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { DeleteWebhook } from './delete-webhook.tsx';
import { isPending } from './delivery-words.ts';
import { summaryOf, wordsOf } from './event-words.ts';
import { LastDelivery } from './last-delivery.tsx';
import { useSettling } from './use-settling.ts';
import { WebhookForm } from './webhook-form.tsx';

/** The limit of an environment, so that the list has one page only. */
const webhooksAtMost = 10;

/** Endpoints that events are sent to. */
export function WebhooksPage() {
  const { route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<Webhook>();
  const loaded = useLoad('webhooks', async signal => (await call('GET /webhooks', { signal })).data);
  const ids = (loaded.value ?? []).map(({ webhookId }) => webhookId);
  const newest = useLoad(ids.join(), signal => loadNewest(ids, signal));
  useSettling(newest.reload, Object.values(newest.value ?? {}).some(isWorkedOn));

  const newButton = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead={`Webhooks send events to your app as they happen. The sandbox and production can each have ${webhooksAtMost}.`}
      actions={newButton}
    >
      <Card flush>
        <Shown loaded={loaded} height={180}>
          {webhooks =>
            webhooks.length === 0 ? (
              <Empty icon="hook" title="No webhooks yet">
                Add an endpoint URL and choose events: a broadcast starts, a recording is complete, a video is
                encoded.
              </Empty>
            ) : (
              <Table
                caption="Webhooks"
                rows={webhooks}
                keyOf={({ webhookId }) => webhookId}
                columns={columnsOf(newest.value ?? {}, setDeleting)}
              />
            )
          }
        </Shown>
      </Card>
      {isCreating && (
        <WebhookForm
          onClose={() => setCreating(false)}
          onSaved={({ webhookId }) => {
            tell('Webhook created.');
            route(`/dashboard/webhooks/${webhookId}`);
          }}
        />
      )}
      {deleting !== undefined && (
        <DeleteWebhook webhook={deleting} onClose={() => setDeleting(undefined)} onDeleted={loaded.reload} />
      )}
    </Page>
  );
}

type Newest = Readonly<Record<string, WebhookDelivery | null>>;

/** The newest delivery of each webhook, by its id. */
async function loadNewest(ids: readonly string[], signal: AbortSignal): Promise<Newest> {
  const pairs = await Promise.all(
    ids.map(async webhookId => {
      const { data } = await call('GET /webhooks/{webhookId}/deliveries', {
        params: { webhookId },
        query: { pageSize: 1 },
        signal,
      });
      return [webhookId, data[0] ?? null] as const;
    }),
  );
  return Object.fromEntries(pairs);
}

function isWorkedOn(delivery: WebhookDelivery | null): boolean {
  return delivery !== null && isPending(delivery);
}

function columnsOf(newest: Newest, onDelete: (webhook: Webhook) => void): Column<Webhook>[] {
  return [
    {
      head: 'Endpoint',
      cell: ({ webhookId, url }) => (
        <a class="hook-address" href={`/dashboard/webhooks/${webhookId}`}>
          {url}
        </a>
      ),
    },
    {
      head: 'Events',
      cell: ({ events }) => (
        <span title={events.map(type => wordsOf(type).words).join('\n')}>{summaryOf(events)}</span>
      ),
    },
    { head: 'Last delivery', cell: ({ webhookId }) => <LastDelivery delivery={newest[webhookId]} /> },
    { head: 'Created', cell: ({ createdAt }) => <Moment time={createdAt} /> },
    {
      head: 'Actions',
      isActions: true,
      cell: webhook => (
        <IconButton danger icon="trash" label={`Delete ${webhook.url}`} onClick={() => onDelete(webhook)} />
      ),
    },
  ];
}
