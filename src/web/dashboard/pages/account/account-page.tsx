import { session } from '../../state/session.ts';
import { chooseTheme, type Theme, theme } from '../../state/theme.ts';
import { t } from '../../texts/account.ts';
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
    <Page title={t('account.title')} lead={t('account.lead', { email: session.value.email })}>
      <UserCard />
      <Section isSplit title={t('theme.title')} id="theme" lead={t('theme.lead')}>
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

const themes: readonly (readonly [Theme, IconName])[] = [
  ['system', 'screen'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

function ThemeSelect() {
  return (
    <fieldset class="choices">
      <legend class="for-readers">{t('theme.title')}</legend>
      {themes.map(([name, icon]) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="theme"
            value={name}
            checked={theme.value === name}
            onChange={() => chooseTheme(name)}
          />
          <Icon name={icon} />
          <span>{t(`theme.kind.${name}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}
