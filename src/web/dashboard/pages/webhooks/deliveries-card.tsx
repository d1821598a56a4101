import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Card } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { tell, tellProblem } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useQuery } from '../../ui/use-query.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { answerOf, type DeliveryStatus, formatDuration, isPending, statusWords } from './delivery-words.ts';
import { wordsOf } from './event-words.ts';
import { DeliveryBadge } from './last-delivery.tsx';
import { resend } from './resend.ts';
import { useSettling } from './use-settling.ts';

const pageSize = 25;
const statuses = ['failed', 'retrying', 'waiting', 'succeeded'] as const;
const choices = [
  ['', 'All deliveries'],
  ...statuses.map(status => [status, statusWords[status].words] as const),
] as const;

/** What was sent to a webhook in the last days, and what is still to be sent. */
export function DeliveriesCard({
  webhook: { webhookId },
  newestId,
  shown,
  onShown,
}: {
  webhook: Webhook;
  /** Of a delivery that was just made; the list is asked for again with each. */
  newestId: string | undefined;
  /** The delivery whose details are open. */
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
  const soon = useSettling(loaded.reload, (loaded.value?.data ?? []).some(isPending));
  const sendAgain = async ({ deliveryId }: WebhookDelivery) => {
    try {
      await resend(webhookId, deliveryId);
      tell('It is sent again.');
      loaded.reload();
      soon();
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <>
      <Card
        flush
        title="Deliveries"
        actions={
          <SelectField<DeliveryStatus | ''>
            label="Which deliveries"
            hideLabel
            value={status ?? ''}
            options={choices}
            onValue={chosen => change({ status: chosen, page: undefined })}
          />
        }
      >
        <Shown loaded={loaded} height={260}>
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
        </Shown>
      </Card>
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
    <Empty icon="send" title="No such deliveries" />
  ) : (
    <Empty icon="send" title="Nothing was sent yet">
      The next event for this webhook appears here. Deliveries are kept for 7 days.
    </Empty>
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
    { head: 'Event', cell: ({ type }) => wordsOf(type).words },
    {
      head: 'Last answer',
      cell: ({ lastAttempt }) =>
        lastAttempt === undefined ? (
          <span class="quiet">None yet</span>
        ) : (
          <span class="last-answer">
            {answerOf(lastAttempt)}
            <span class="quiet">{formatDuration(lastAttempt.durationMs)}</span>
          </span>
        ),
    },
    { head: 'Tries', isNumber: true, cell: ({ attemptsTotal }) => attemptsTotal },
    { head: 'When', cell: ({ createdAt }) => <Moment time={createdAt} /> },
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
  const { words } = wordsOf(type);
  return eventId === undefined ? words : `${words}, event ${eventId}`;
}
