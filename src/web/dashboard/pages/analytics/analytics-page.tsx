import { Page } from '../../ui/page.tsx';

/** Who watched what, when and where. */
export function AnalyticsPage() {
  return (
    <Page title="Analytics">
      <p>Nothing yet.</p>
    </Page>
  );
}
