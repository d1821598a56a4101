import { Page } from '../../ui/page.tsx';

/** One live stream: what it shows, how it comes in, where it goes. */
export function LiveStreamPage() {
  return (
    <Page title="Live stream">
      <p>Nothing yet.</p>
    </Page>
  );
}
