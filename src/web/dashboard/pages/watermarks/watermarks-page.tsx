import { Page } from '../../ui/page.tsx';

/** Pictures that are burned into videos. */
export function WatermarksPage() {
  return (
    <Page title="Watermarks">
      <p>Nothing yet.</p>
    </Page>
  );
}
