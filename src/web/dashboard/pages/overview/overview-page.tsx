import { Page } from '../../ui/page.tsx';

/** What is live, what was used, how the server is. */
export function OverviewPage() {
  return (
    <Page title="Overview">
      <p>Nothing yet.</p>
    </Page>
  );
}
