import { Page } from '../../ui/page.tsx';

/** Videos that were thrown away and can come back. */
export function TrashPage() {
  return (
    <Page title="Trash">
      <p>Nothing yet.</p>
    </Page>
  );
}
