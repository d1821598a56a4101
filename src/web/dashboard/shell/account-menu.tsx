import { withBasePath } from '../../shared/base-path.ts';
import { signOut, switchAccount } from '../api/sessions.ts';
import { session } from '../state/session.ts';
import { openShellDialog } from '../state/shell-dialog.ts';
import { chooseTheme, theme } from '../state/theme.ts';
import { t } from '../texts/shell.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { showError } from '../ui/toast.tsx';

const nextTheme = { system: 'light', light: 'dark', dark: 'system' } as const;
const themeIcons = { system: 'screen', light: 'sun', dark: 'moon' } as const;

export function AccountMenu() {
  const { route } = useLocation();
  const { email = '', account, accounts = [] } = session.value ?? {};
  const name = accounts.length > 1 ? account?.name : undefined;
  return (
    <Menu
      label={t('menu.account')}
      items={[
        {
          label: t('menu.toAccount'),
          icon: 'user',
          leaves: true,
          onClick: () => route('/dashboard/account'),
        },
        ...otherAccounts(),
        {
          label: t(`menu.theme.${theme.value}`),
          icon: themeIcons[theme.value],
          onClick: () => chooseTheme(nextTheme[theme.value]),
        },
        { label: t('menu.language'), icon: 'globe', onClick: () => openShellDialog('language') },
        {
          label: t('menu.documentation'),
          icon: 'external',
          onClick: () => window.open(withBasePath('/docs'), '_blank', 'noreferrer'),
        },
        {
          label: t('menu.signOut'),
          icon: 'out',
          leaves: true,
          onClick: () => void signOut().catch(showError),
        },
      ]}
    >
      <span class="avatar" aria-hidden="true">
        {email.slice(0, 1).toUpperCase()}
      </span>
      <span class="account-email">{name ?? email}</span>
      <Icon name="down" size={16} />
    </Menu>
  );
}

function otherAccounts(): MenuItem[] {
  const { accounts = [], account } = session.value ?? {};
  return accounts
    .filter(({ accountId }) => accountId !== account?.accountId)
    .map(({ accountId, name, ownerEmail }) => ({
      label: t('menu.switchTo', { name: name ?? ownerEmail ?? accountId }),
      icon: 'refresh',
      leaves: true,
      onClick: () => void switchAccount(accountId).catch(showError),
    }));
}
