import { Page } from '../../ui/page.tsx';

/** One theme, with a preview of it. */
export function PlayerPage() {
  return (
    <Page title="Player">
      <p>Nothing yet.</p>
    </Page>
  );
}
