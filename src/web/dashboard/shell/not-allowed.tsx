import type { Scope } from '../state/session.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';

const explanations: Readonly<Record<Scope | 'operator', string>> = {
  read: 'You can’t view this account. Ask an owner for another role.',
  upload: 'You can view this account. Ask an owner for a role that can upload.',
  live: 'You can view this account. Ask an owner for a role that can go live.',
  admin: 'This page is for owners of the account. Ask one of them to make you an owner.',
  operator: 'This page is for the account of the server’s operator.',
};

export function NotAllowed({ scope }: { scope: Scope | 'operator' }) {
  return (
    <Page title="Not allowed">
      <EmptyState
        icon="lock"
        title={scope === 'operator' ? 'Your account can’t use this page' : 'Your role can’t use this page'}
        action={<Button href="/dashboard">Go to overview</Button>}
      >
        {explanations[scope]}
      </EmptyState>
    </Page>
  );
}
