import { Page } from '../../ui/page.tsx';

/** All videos, and uploads. */
export function VideosPage() {
  return (
    <Page title="Videos">
      <p>Nothing yet.</p>
    </Page>
  );
}
