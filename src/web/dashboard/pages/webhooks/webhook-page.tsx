import { Page } from '../../ui/page.tsx';

/** One webhook and what was sent to it. */
export function WebhookPage() {
  return (
    <Page title="Webhook">
      <p>Nothing yet.</p>
    </Page>
  );
}
