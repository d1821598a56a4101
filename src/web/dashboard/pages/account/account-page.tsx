import { useLayoutEffect } from 'preact/hooks';
import { can, session } from '../../state/session.ts';
import { chooseTheme, type Theme, theme } from '../../state/theme.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { TeamCard } from '../team/team-card.tsx';
import { AccountInfo } from './account-info.tsx';
import { AccountNameCard } from './account-name-card.tsx';
import { IdentityCard } from './identity-card.tsx';
import { PasskeysCard } from './passkeys/passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { TwoFactorCard } from './two-factor/two-factor-card.tsx';
import { UpgradeCard } from './upgrade-card.tsx';

export function AccountPage() {
  useLayoutEffect(() => {
    const part = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    part?.scrollIntoView({ block: 'center' });
    part?.focus({ preventScroll: true });
  }, []);
  if (!session.value) return null;
  return (
    <Page
      title="Account"
      lead={`You’re signed in as ${session.value.email}.`}
      actions={
        can('admin') && (
          <Button icon="clock" href="/dashboard/account/activity">
            Activity
          </Button>
        )
      }
    >
      <UpgradeCard />
      <div class="columns account-columns">
        <div class="stack">
          <AccountInfo />
          {can('admin') && <AccountNameCard />}
          <Card title="Theme">
            <ThemeSelect />
          </Card>
        </div>
        <div class="stack">
          <PasswordCard />
          <TwoFactorCard />
          <PasskeysCard />
          <IdentityCard />
        </div>
      </div>
      <TeamCard />
      <SessionsCard />
    </Page>
  );
}

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'System', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

function ThemeSelect() {
  return (
    <fieldset class="choices">
      <legend class="for-readers">Theme</legend>
      {themes.map(([name, label, icon]) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="theme"
            value={name}
            checked={theme.value === name}
            onChange={() => chooseTheme(name)}
          />
          <Icon name={icon} />
          <span>{label}</span>
        </label>
      ))}
      <p class="hint">Saved in this browser.</p>
    </fieldset>
  );
}
