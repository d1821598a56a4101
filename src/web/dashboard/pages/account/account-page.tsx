import { useLayoutEffect } from 'preact/hooks';
import { session } from '../../state/session.ts';
import { Card, Page } from '../../ui/page.tsx';
import { AccountInfo } from './account-info.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { ThemeSelect } from './theme-select.tsx';
import { UpgradeCard } from './upgrade-card.tsx';

export function AccountPage() {
  useLayoutEffect(() => {
    // The hash may name a part that did not exist when the page was opened.
    const part = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    part?.scrollIntoView({ block: 'center' });
    part?.focus({ preventScroll: true });
  }, []);
  if (!session.value) return null;
  return (
    <Page title="Account" lead={`You’re signed in as ${session.value.email}.`}>
      <UpgradeCard />
      <div class="columns account-columns">
        <AccountInfo />
        <div class="stack">
          <PasswordCard />
          <Card title="Theme">
            <ThemeSelect />
          </Card>
        </div>
      </div>
      <SessionsCard />
    </Page>
  );
}
