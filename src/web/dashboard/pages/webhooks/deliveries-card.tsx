import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Section } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { DeliveryBadge } from './delivery-badge.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import {
  type DeliveryStatus,
  formatAnswer,
  formatDuration,
  isPending,
  statusLabel,
} from './delivery-labels.ts';
import { eventLabel } from './event-labels.ts';
import { resend } from './resend.ts';
import { useDeliveryRefresh } from './use-delivery-refresh.ts';

const pageSize = 25;
const statuses = ['failed', 'retrying', 'waiting', 'succeeded'] as const;

export function DeliveriesCard({
  webhook: { webhookId },
  newestId,
  shown,
  onShown,
  onResent,
}: {
  webhook: Webhook;
  newestId: string | undefined;
  shown: string | undefined;
  onShown: (deliveryId: string | undefined) => void;
  onResent: () => void;
}) {
  const { query, change } = useQuery();
  const status = statuses.find(one => one === query.status);
  const page = pageOf(query);
  const loaded = useLoad(`${webhookId} ${status} ${page} ${newestId}`, signal =>
    call('GET /webhooks/{webhookId}/deliveries', {
      params: { webhookId },
      query: { status, currentPage: page, pageSize },
      signal,
    }),
  );
  const soon = useDeliveryRefresh(loaded.reload, (loaded.value?.data ?? []).some(isPending));
  const showResent = () => {
    onResent();
    loaded.reload();
    soon();
  };
  const sendAgain = async ({ deliveryId }: WebhookDelivery) => {
    try {
      await resend(webhookId, deliveryId);
      showToast(t('deliveries.resent'));
      showResent();
    } catch (error) {
      showError(error);
    }
  };
  return (
    <>
      <Section
        title={t('deliveries.title')}
        actions={
          <SelectField<DeliveryStatus | ''>
            label={t('deliveries.filter')}
            hideLabel
            value={status ?? ''}
            options={[['', t('deliveries.all')], ...statuses.map(one => [one, statusLabel(one)] as const)]}
            onValue={chosen => change({ status: chosen, page: undefined })}
          />
        }
      >
        <LoadedContent loaded={loaded} height={260}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <NoDeliveries isFiltered={status !== undefined || page > 1} />
            ) : (
              <>
                <Table
                  caption={t('deliveries.title')}
                  rows={data}
                  keyOf={({ deliveryId }) => deliveryId}
                  columns={columnsOf({ show: onShown, sendAgain: one => void sendAgain(one) })}
                />
                <Pagination pagination={pagination} what="deliveries" />
              </>
            )
          }
        </LoadedContent>
      </Section>
      {shown !== undefined && (
        <DeliveryDialog
          key={shown}
          webhookId={webhookId}
          deliveryId={shown}
          onResent={deliveryId => {
            onShown(deliveryId);
            showResent();
          }}
          onClose={() => onShown(undefined)}
        />
      )}
    </>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="send" title={t('deliveries.noResults')} />
  ) : (
    <EmptyState icon="send" title={t('deliveries.emptyTitle')}>
      {t('deliveries.emptyText')}
    </EmptyState>
  );
}

function columnsOf({
  show,
  sendAgain,
}: {
  show: (deliveryId: string) => void;
  sendAgain: (delivery: WebhookDelivery) => void;
}): Column<WebhookDelivery>[] {
  return [
    { head: t('deliveries.state'), cell: ({ status }) => <DeliveryBadge status={status} /> },
    { head: t('deliveries.event'), cell: ({ type }) => eventLabel(type).label },
    {
      head: t('deliveries.lastResponse'),
      cell: ({ lastAttempt }) =>
        lastAttempt === undefined ? (
          <span class="quiet">{t('deliveries.none')}</span>
        ) : (
          <span class="last-answer">
            <bdi>{formatAnswer(lastAttempt)}</bdi>
            <bdi class="quiet">{formatDuration(lastAttempt.durationMs)}</bdi>
          </span>
        ),
    },
    { head: t('deliveries.attempts'), isNumber: true, cell: ({ attemptsTotal }) => attemptsTotal },
    { head: t('deliveries.createdAt'), cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
    {
      head: t('deliveries.actions'),
      isActions: true,
      cell: delivery => (
        <span class="actions-of-row">
          <Button
            small
            label={t('deliveries.detailsLabel', { delivery: nameOf(delivery) })}
            onClick={() => show(delivery.deliveryId)}
          >
            {t('deliveries.details')}
          </Button>
          <IconButton
            icon="send"
            label={t('deliveries.sendAgainLabel', { delivery: nameOf(delivery) })}
            onClick={() => sendAgain(delivery)}
          />
        </span>
      ),
    },
  ];
}

function nameOf({ type, eventId }: WebhookDelivery): string {
  const { label } = eventLabel(type);
  return eventId === undefined ? label : t('deliveries.nameWithEvent', { event: label, eventId });
}
