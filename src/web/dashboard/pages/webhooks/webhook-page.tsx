import { useState } from 'preact/hooks';
import type { Webhook, WebhookDeliveryDetails } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { rich, t } from '../../texts/developers.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card, DetailList, Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { DeleteWebhook } from './delete-webhook.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { formatAnswer, formatDuration } from './delivery-labels.ts';
import { eventLabel } from './event-labels.ts';
import { verifySample } from './verify-sample.ts';
import { WebhookForm } from './webhook-form.tsx';

const list = '/dashboard/webhooks';

export function WebhookPage({ params: { webhookId = '' } }: PageProps) {
  const { route } = useLocation();
  const [openDialog, setOpenDialog] = useState<'edit' | 'delete'>();
  const [test, setTest] = useState<WebhookDeliveryDetails>();
  const [shown, setShown] = useState<string>();
  const loaded = useLoad(webhookId, signal =>
    call('GET /webhooks/{webhookId}', { params: { webhookId }, signal }),
  );
  const webhook = loaded.value;
  const testing = useSubmit(async () => {
    setTest(undefined);
    setTest(await call('POST /webhooks/{webhookId}/test', { params: { webhookId } }));
  });
  return (
    <Page
      title={webhook === undefined ? t('webhooks.webhook') : hostOf(webhook.url)}
      back={{ href: list, label: t('webhooks.title') }}
      actions={
        webhook === undefined ? undefined : (
          <>
            <Button icon="send" busy={testing.busy} onClick={() => testing.submit()}>
              {t('webhooks.sendTest')}
            </Button>
            <Button icon="edit" onClick={() => setOpenDialog('edit')}>
              {t('webhooks.edit')}
            </Button>
            <Button icon="trash" onClick={() => setOpenDialog('delete')}>
              {t('webhooks.delete')}
            </Button>
          </>
        )
      }
    >
      <div role="status">
        {test !== undefined && <TestResult delivery={test} onDetails={() => setShown(test.deliveryId)} />}
        <ProblemNotice problem={testing.problem} />
      </div>
      <LoadedContent loaded={loaded} height={420}>
        {value => (
          <div class="stack">
            <div class="columns">
              <WebhookDetails webhook={value} />
              <Signing webhook={value} />
            </div>
            <DeliveriesCard
              webhook={value}
              shown={shown}
              onShown={setShown}
              newestId={test?.deliveryId}
              onResent={() => setTest(undefined)}
            />
          </div>
        )}
      </LoadedContent>
      {openDialog === 'edit' && webhook !== undefined && (
        <WebhookForm
          webhook={webhook}
          onClose={() => setOpenDialog(undefined)}
          onSaved={saved => {
            loaded.set(saved);
            setOpenDialog(undefined);
            setTest(undefined);
            showToast(t('webhooks.saved'));
          }}
        />
      )}
      {openDialog === 'delete' && webhook !== undefined && (
        <DeleteWebhook
          webhook={webhook}
          onClose={() => setOpenDialog(undefined)}
          onDeleted={() => route(list)}
        />
      )}
    </Page>
  );
}

function WebhookDetails({ webhook: { webhookId, url, events, createdAt } }: { webhook: Webhook }) {
  return (
    <Card title={t('webhooks.webhook')}>
      <CopyField label={t('endpoint.label')} value={url} />
      <DetailList
        rows={[
          [
            t('webhooks.events'),
            <details key="events" class="more">
              <summary>{t('webhooks.eventCount', { count: events.length })}</summary>
              <ul class="told-of">
                {events.map(type => (
                  <li key={type}>
                    {eventLabel(type).label}
                    <code class="quiet">{type}</code>
                  </li>
                ))}
              </ul>
            </details>,
          ],
          [t('webhooks.createdAt'), formatDateTime(createdAt)],
          [t('webhooks.id'), <code key="id">{webhookId}</code>],
        ]}
      />
    </Card>
  );
}

function Signing({ webhook: { signatureSecret } }: { webhook: Webhook }) {
  return (
    <Card title={t('webhooks.signature')}>
      <CopyField
        secret
        label={t('webhooks.secret')}
        value={signatureSecret}
        hint={t('webhooks.secretHint')}
      />
      <details class="more">
        <summary>{t('webhooks.verify')}</summary>
        <div class="prose">
          <p>{rich('webhooks.verifyText', {}, { code: text => <code>{text}</code> })}</p>
          <CodeSample label="Node.js" text={verifySample} />
        </div>
      </details>
    </Card>
  );
}

function hostOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return pathname === '/' ? host : host + pathname;
  } catch {
    return url;
  }
}

function TestResult({
  delivery: { status, attempts },
  onDetails,
}: {
  delivery: WebhookDeliveryDetails;
  onDetails: () => void;
}) {
  const attempt = attempts.at(-1);
  const isDelivered = status === 'succeeded';
  return (
    <Notice
      tone={isDelivered ? 'good' : 'bad'}
      title={isDelivered ? t('webhooks.testDelivered') : t('webhooks.testFailed')}
      action={
        <Button small onClick={onDetails}>
          {t('webhooks.details')}
        </Button>
      }
    >
      {attempt !== undefined && (
        <p>
          {t('webhooks.answerTook', {
            answer: formatAnswer(attempt).replace(/[.。]$/, ''),
            duration: formatDuration(attempt.durationMs),
          })}
        </p>
      )}
    </Notice>
  );
}
