import { elsewhere } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';

const back = { href: '/dashboard/live', label: 'Live streams' };

export function MissingStream() {
  return (
    <Page title="Live stream" back={back}>
      <EmptyState
        icon="live"
        title="Live stream not found"
        action={<Button href={back.href}>Go to live streams</Button>}
      >
        It may have been deleted, or belong to {elsewhere.value}.
      </EmptyState>
    </Page>
  );
}
