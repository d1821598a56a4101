import { Page } from '../../ui/page.tsx';

/** Addresses that are told of events. */
export function WebhooksPage() {
  return (
    <Page title="Webhooks">
      <p>Nothing yet.</p>
    </Page>
  );
}
