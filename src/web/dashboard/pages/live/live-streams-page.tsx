import { Page } from '../../ui/page.tsx';

/** All live streams, and a way to make one. */
export function LiveStreamsPage() {
  return (
    <Page title="Live streams">
      <p>Nothing yet.</p>
    </Page>
  );
}
