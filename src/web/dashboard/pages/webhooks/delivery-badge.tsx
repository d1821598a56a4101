import type { WebhookDelivery } from '../../api/api-types.ts';
import { t } from '../../texts/developers.ts';
import { Badge } from '../../ui/badge.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { statusLabel, statusTones } from './delivery-labels.ts';

export function DeliveryBadge({ status }: Pick<WebhookDelivery, 'status'>) {
  return <Badge tone={statusTones[status]}>{statusLabel(status)}</Badge>;
}

/** `delivery` is undefined while unknown, null if there is none. */
export function LastDelivery({ delivery }: { delivery: WebhookDelivery | null | undefined }) {
  if (delivery === undefined) return <span class="quiet">…</span>;
  if (delivery === null) return <span class="quiet">{t('deliveries.none')}</span>;
  return (
    <span class="last-delivery">
      <DeliveryBadge status={delivery.status} />
      <span class="quiet">
        <RelativeTime time={delivery.createdAt} />
      </span>
    </span>
  );
}
