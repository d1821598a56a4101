import { Page } from '../../ui/page.tsx';

/** Who is signed in, where, and what the account may do. */
export function AccountPage() {
  return (
    <Page title="Account">
      <p>Nothing yet.</p>
    </Page>
  );
}
