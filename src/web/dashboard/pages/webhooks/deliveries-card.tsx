import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Section } from '../../ui/page.tsx';
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
  statusLabels,
} from './delivery-labels.ts';
import { eventLabel } from './event-labels.ts';
import { resend } from './resend.ts';
import { useDeliveryRefresh } from './use-delivery-refresh.ts';

const pageSize = 25;
const statuses = ['failed', 'retrying', 'waiting', 'succeeded'] as const;
const choices = [
  ['', 'All deliveries'],
  ...statuses.map(status => [status, statusLabels[status].label] as const),
] as const;

export function DeliveriesCard({
  webhook: { webhookId },
  newestId,
  shown,
  onShown,
}: {
  webhook: Webhook;
  newestId: string | undefined;
  shown: string | undefined;
  onShown: (deliveryId: string | undefined) => void;
}) {
  const { query, change } = useQuery();
  const status = statuses.find(one => one === query.status);
  const page = Math.max(1, Number(query.page) || 1);
  const loaded = useLoad(`${webhookId} ${status} ${page} ${newestId}`, signal =>
    call('GET /webhooks/{webhookId}/deliveries', {
      params: { webhookId },
      query: { status, currentPage: page, pageSize },
      signal,
    }),
  );
  const soon = useDeliveryRefresh(loaded.reload, (loaded.value?.data ?? []).some(isPending));
  const sendAgain = async ({ deliveryId }: WebhookDelivery) => {
    try {
      await resend(webhookId, deliveryId);
      showToast('Sending again.');
      loaded.reload();
      soon();
    } catch (error) {
      showError(error);
    }
  };
  return (
    <>
      <Section
        title="Deliveries"
        actions={
          <SelectField<DeliveryStatus | ''>
            label="Filter by state"
            hideLabel
            value={status ?? ''}
            options={choices}
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
                  caption="Deliveries"
                  rows={data}
                  keyOf={({ deliveryId }) => deliveryId}
                  columns={columnsOf({ show: onShown, sendAgain: one => void sendAgain(one) })}
                />
                <Pagination
                  pagination={pagination}
                  what="deliveries"
                  onPage={next => change({ page: next === 1 ? undefined : String(next) })}
                />
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
            loaded.reload();
            soon();
          }}
          onClose={() => onShown(undefined)}
        />
      )}
    </>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="send" title="No results" />
  ) : (
    <EmptyState icon="send" title="No deliveries yet">
      The next event for this webhook appears here. Deliveries are kept for 7 days.
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
    { head: 'State', cell: ({ status }) => <DeliveryBadge status={status} /> },
    { head: 'Event', cell: ({ type }) => eventLabel(type).label },
    {
      head: 'Last response',
      cell: ({ lastAttempt }) =>
        lastAttempt === undefined ? (
          <span class="quiet">None yet</span>
        ) : (
          <span class="last-answer">
            {formatAnswer(lastAttempt)}
            <span class="quiet">{formatDuration(lastAttempt.durationMs)}</span>
          </span>
        ),
    },
    { head: 'Attempts', isNumber: true, cell: ({ attemptsTotal }) => attemptsTotal },
    { head: 'Created', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
    {
      head: 'Actions',
      isActions: true,
      cell: delivery => (
        <span class="actions-of-row">
          <Button small label={`Details of ${nameOf(delivery)}`} onClick={() => show(delivery.deliveryId)}>
            Details
          </Button>
          <IconButton
            icon="send"
            label={`Send again: ${nameOf(delivery)}`}
            onClick={() => sendAgain(delivery)}
          />
        </span>
      ),
    },
  ];
}

function nameOf({ type, eventId }: WebhookDelivery): string {
  const { label } = eventLabel(type);
  return eventId === undefined ? label : `${label}, event ${eventId}`;
}
