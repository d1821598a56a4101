import { Page } from '../../ui/page.tsx';

/** All themes of the player. */
export function PlayersPage() {
  return (
    <Page title="Players">
      <p>Nothing yet.</p>
    </Page>
  );
}
