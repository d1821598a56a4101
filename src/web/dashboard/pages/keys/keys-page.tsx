import { Page } from '../../ui/page.tsx';

/** Keys for programs that call the API. */
export function KeysPage() {
  return (
    <Page title="API keys">
      <p>Nothing yet.</p>
    </Page>
  );
}
