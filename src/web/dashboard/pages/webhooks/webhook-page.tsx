import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Webhook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { DeleteWebhook } from './delete-webhook.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { wordsOf } from './event-words.ts';
import { verifySample } from './verify-sample.ts';

const list = '/dashboard/webhooks';

/** One webhook and what was sent to it. */
export function WebhookPage({ params: { webhookId = '' } }: PageProps) {
  const { route } = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const loaded = useLoad(webhookId, signal =>
    call('GET /webhooks/{webhookId}', { params: { webhookId }, signal }),
  );
  const webhook = loaded.value;
  return (
    <Page
      title={webhook === undefined ? 'Webhook' : hostOf(webhook.url)}
      back={{ href: list, words: 'Webhooks' }}
      {...(webhook === undefined
        ? {}
        : {
            actions: (
              <Button icon="trash" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            ),
          })}
    >
      <Shown loaded={loaded} height={420}>
        {value => (
          <div class="stack">
            <div class="columns">
              <HookFacts webhook={value} />
              <Signing webhook={value} />
            </div>
            <DeliveriesCard webhook={value} />
          </div>
        )}
      </Shown>
      {isDeleting && webhook !== undefined && (
        <DeleteWebhook webhook={webhook} onClose={() => setDeleting(false)} onDeleted={() => route(list)} />
      )}
    </Page>
  );
}

function HookFacts({ webhook: { webhookId, url, events, createdAt } }: { webhook: Webhook }) {
  return (
    <Card title="Webhook">
      <CopyField label="Address" value={url} />
      <Facts
        rows={[
          [
            'Told of',
            <ul key="events" class="told-of">
              {events.map(type => (
                <li key={type}>
                  {wordsOf(type).words}
                  <code class="quiet">{type}</code>
                </li>
              ))}
            </ul>,
          ],
          ['Created', formatDateTime(createdAt)],
          ['Id', <code key="id">{webhookId}</code>],
        ]}
      />
      <p class="hint">A webhook cannot be changed: make another one and delete this one.</p>
    </Card>
  );
}

function Signing({ webhook: { signatureSecret } }: { webhook: Webhook }) {
  return (
    <Card title="Signature">
      <CopyField
        secret
        label="Signing secret"
        value={signatureSecret}
        hint="Every request is signed with it, so that your receiver knows that it came from here."
      />
      <details class="more">
        <summary>How to verify</summary>
        <div class="prose">
          <p>
            <code>X-Api-Video-Signature</code> is the HMAC-SHA256 of the body in hexadecimal, with the whole
            secret as its key. <code>Millrace-Signature</code> signs the time with it.
          </p>
          <CodeSample label="For Node" text={verifySample} />
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
