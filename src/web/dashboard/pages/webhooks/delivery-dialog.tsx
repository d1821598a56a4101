import type { WebhookAttempt, WebhookDeliveryDetails } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/developers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { DetailList } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { DeliveryBadge } from './delivery-badge.tsx';
import {
  errorDetail,
  formatAnswer,
  formatDuration,
  isGood,
  isPending,
  prettyJson,
} from './delivery-labels.ts';
import { eventLabel } from './event-labels.ts';
import { resend } from './resend.ts';
import { useDeliveryRefresh } from './use-delivery-refresh.ts';

export function DeliveryDialog({
  webhookId,
  deliveryId,
  onResent,
  onClose,
}: {
  webhookId: string;
  deliveryId: string;
  onResent: (deliveryId: string) => void;
  onClose: () => void;
}) {
  const loaded = useLoad(deliveryId, signal =>
    call('GET /webhooks/{webhookId}/deliveries/{deliveryId}', { params: { webhookId, deliveryId }, signal }),
  );
  useDeliveryRefresh(loaded.reload, loaded.value !== undefined && isPending(loaded.value));
  const resending = useSubmit(async () => {
    const made = await resend(webhookId, deliveryId);
    showToast(t('deliveries.resent'));
    onResent(made.deliveryId);
  });
  return (
    <Dialog title={t('deliveries.delivery')} wide onClose={onClose}>
      <div class="dialog-body">
        <LoadedContent loaded={loaded} height={340}>
          {delivery => <Details delivery={delivery} />}
        </LoadedContent>
        <ProblemNotice problem={resending.problem} />
      </div>
      <footer>
        <Button kind="quiet" onClick={onClose}>
          {t('deliveries.close')}
        </Button>
        <Button kind="primary" icon="send" busy={resending.busy} onClick={() => resending.submit()}>
          {t('deliveries.sendAgain')}
        </Button>
      </footer>
    </Dialog>
  );
}

function Details({ delivery }: { delivery: WebhookDeliveryDetails }) {
  const { status, type, createdAt, nextAttemptAt, resentFrom, eventId, body, attempts, attemptsTotal } =
    delivery;
  return (
    <>
      <DetailList
        rows={[
          [t('deliveries.state'), <DeliveryBadge key="state" status={status} />],
          [
            t('deliveries.event'),
            <>
              {eventLabel(type).label} <code class="quiet">{type}</code>
            </>,
          ],
          ...(eventId === undefined ? [] : [[t('deliveries.eventId'), eventId] as const]),
          [t('deliveries.createdAt'), formatDateTime(createdAt)],
          ...(nextAttemptAt === undefined
            ? []
            : [[t('deliveries.nextAttempt'), <NextTry key="next" time={nextAttemptAt} />] as const]),
          ...(resentFrom === undefined
            ? []
            : [[t('deliveries.resentFrom'), <code key="repeats">{resentFrom}</code>] as const]),
        ]}
      />
      <CodeSample label={t('deliveries.payload')} text={prettyJson(body)} />
      <section class="stack" aria-label={t('deliveries.attempts')}>
        <h3>{attemptsText(attemptsTotal, attempts.length)}</h3>
        <ol class="attempts">
          {attempts.map(attempt => (
            <Attempt key={attempt.attemptedAt} attempt={attempt} />
          ))}
        </ol>
      </section>
    </>
  );
}

function NextTry({ time }: { time: string }) {
  if (new Date(time).getTime() > Date.now()) return <RelativeTime time={time} />;
  return <>{t('deliveries.afterEarlier')}</>;
}

function attemptsText(total: number, kept: number): string {
  return kept < total
    ? t('deliveries.attemptsKept', { count: total, kept })
    : t('deliveries.attemptCount', { count: total });
}

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const { attemptedAt, durationMs, response } = attempt;
  const detail = errorDetail(attempt);
  return (
    <li>
      <p class="attempt-head">
        <Badge tone={isGood(attempt) ? 'good' : 'bad'}>{formatAnswer(attempt)}</Badge>
        <span class="quiet">
          {t('deliveries.attemptAt', {
            date: formatDateTime(attemptedAt),
            duration: formatDuration(durationMs),
          })}
        </span>
      </p>
      {detail !== undefined && (
        <p lang="en" dir="ltr">
          {detail}
        </p>
      )}
      {response !== undefined && response !== '' && <pre class="attempt-answer">{response}</pre>}
    </li>
  );
}
