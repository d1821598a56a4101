import { Page } from '../../ui/page.tsx';

/** Tokens with which others upload. */
export function UploadTokensPage() {
  return (
    <Page title="Upload tokens">
      <p>Nothing yet.</p>
    </Page>
  );
}
