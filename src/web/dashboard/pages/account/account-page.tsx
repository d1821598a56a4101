import { session } from '../../state/session.ts';
import { chooseTheme, type Theme, theme } from '../../state/theme.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { IdentityCard } from './identity-card.tsx';
import { PasskeysCard } from './passkeys/passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { TwoFactorCard } from './two-factor/two-factor-card.tsx';
import { UserCard } from './user-card.tsx';

export function AccountPage() {
  if (!session.value) return null;
  return (
    <Page title="Account" lead={`You’re signed in as ${session.value.email}.`}>
      <UserCard />
      <Section isSplit title="Theme" id="theme" lead="Saved in this browser.">
        <ThemeSelect />
      </Section>
      <PasswordCard />
      <TwoFactorCard />
      <PasskeysCard />
      <IdentityCard />
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
    </fieldset>
  );
}
