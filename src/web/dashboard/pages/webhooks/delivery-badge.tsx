import type { WebhookDelivery } from '../../api/api-types.ts';
import { Badge } from '../../ui/badge.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { statusLabels } from './delivery-labels.ts';

export function DeliveryBadge({ status }: Pick<WebhookDelivery, 'status'>) {
  const { label, tone } = statusLabels[status];
  return <Badge tone={tone}>{label}</Badge>;
}

/** `delivery` is undefined while unknown, null if there is none. */
export function LastDelivery({ delivery }: { delivery: WebhookDelivery | null | undefined }) {
  if (delivery === undefined) return <span class="quiet">…</span>;
  if (delivery === null) return <span class="quiet">None yet</span>;
  return (
    <span class="last-delivery">
      <DeliveryBadge status={delivery.status} />
      <span class="quiet">
        <RelativeTime time={delivery.createdAt} />
      </span>
    </span>
  );
}
