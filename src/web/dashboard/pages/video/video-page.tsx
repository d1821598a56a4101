import { Page } from '../../ui/page.tsx';

/** One video: how it plays, and all that is known of it. */
export function VideoPage() {
  return (
    <Page title="Video">
      <p>Nothing yet.</p>
    </Page>
  );
}
