import { useState } from 'preact/hooks';
import { maxWebhooks } from '../../../../shared/limits/resource-limits.ts';
import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { Page, Section } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { DeleteWebhook } from './delete-webhook.tsx';
import { LastDelivery } from './delivery-badge.tsx';
import { isPending } from './delivery-labels.ts';
import { eventLabel, summarizeEvents } from './event-labels.ts';
import { HooksSection } from './hooks-section.tsx';
import { useDeliveryRefresh } from './use-delivery-refresh.ts';
import { WebhookForm } from './webhook-form.tsx';

export function WebhooksPage() {
  const { route } = useLocation();
  const [isCreating, setCreating] = useNewDialog();
  const [deleting, setDeleting] = useState<Webhook>();
  const loaded = useLoad('webhooks', async signal => (await call('GET /webhooks', { signal })).data);
  const ids = (loaded.value ?? []).map(({ webhookId }) => webhookId);
  const newest = useLoad(ids.join(), signal => loadNewest(ids, signal));
  useDeliveryRefresh(newest.reload, Object.values(newest.value ?? {}).some(isUnderWay));

  const newButton = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {t('webhooks.new')}
    </Button>
  );
  return (
    <Page title={t('webhooks.title')} lead={t('webhooks.lead', { count: maxWebhooks })} actions={newButton}>
      <Section>
        <LoadedContent loaded={loaded} height={180}>
          {webhooks =>
            webhooks.length === 0 ? (
              <EmptyState icon="hook" title={t('webhooks.emptyTitle')}>
                {t('webhooks.emptyText')}
              </EmptyState>
            ) : (
              <Table
                caption={t('webhooks.title')}
                rows={webhooks}
                keyOf={({ webhookId }) => webhookId}
                columns={columnsOf(newest.value ?? {}, setDeleting)}
              />
            )
          }
        </LoadedContent>
      </Section>
      <HooksSection />
      {isCreating && (
        <WebhookForm
          onClose={() => setCreating(false)}
          onSaved={({ webhookId }) => {
            showToast(t('webhooks.created'));
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

function isUnderWay(delivery: WebhookDelivery | null): boolean {
  return delivery !== null && isPending(delivery);
}

function columnsOf(newest: Newest, onDelete: (webhook: Webhook) => void): Column<Webhook>[] {
  return [
    {
      head: t('webhooks.endpoint'),
      cell: ({ webhookId, url }) => (
        <a class="hook-address" href={`/dashboard/webhooks/${webhookId}`}>
          {url}
        </a>
      ),
    },
    {
      head: t('webhooks.events'),
      cell: ({ events }) => (
        <span title={events.map(type => eventLabel(type).label).join('\n')}>{summarizeEvents(events)}</span>
      ),
    },
    {
      head: t('webhooks.lastDelivery'),
      cell: ({ webhookId }) => <LastDelivery delivery={newest[webhookId]} />,
    },
    { head: t('webhooks.createdAt'), cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
    {
      head: t('webhooks.actions'),
      isActions: true,
      cell: webhook => (
        <IconButton
          danger
          icon="trash"
          label={t('webhooks.deleteLabel', { url: webhook.url })}
          onClick={() => onDelete(webhook)}
        />
      ),
    },
  ];
}
