import { signOut } from '../../api/sessions.ts';
import {
  can,
  chooseEnvironment,
  chooseProject,
  environment,
  project,
  type Scope,
  session,
} from '../../state/session.ts';
import { openShellDialog, type ShellDialog } from '../../state/shell-dialog.ts';
import { chooseTheme, type Theme, theme } from '../../state/theme.ts';
import { t } from '../../texts/search.ts';
import { t as shared } from '../../texts/shell.ts';
import type { IconName } from '../../ui/icon.tsx';
import { showError } from '../../ui/toast.tsx';
import { listPathOf } from '../list-path.ts';
import { allowedGroups, isAllowed } from '../nav-groups.ts';
import type { PaletteEntry } from './entry.ts';

export function pageEntries(): readonly PaletteEntry[] {
  const listed = allowedGroups().flatMap(({ title, entries }) =>
    entries.map(({ href, label, icon, also }) => ({
      id: `page:${href}`,
      label,
      detail: title,
      icon,
      also,
      href,
    })),
  );
  return [
    ...listed,
    page('/dashboard/account', t('search.page.account'), 'user', 'profile you email'),
    page('/dashboard/videos/trash', t('search.page.trash'), 'trash', 'deleted videos restore bin'),
    ...(isAllowed({ scope: 'admin', isForOperator: true })
      ? [
          page(
            '/dashboard/server/settings',
            t('search.page.serverSettings'),
            'settings',
            'change configuration environment variables ports HTTPS certificate domain',
          ),
        ]
      : []),
    page('/docs', t('search.page.docs'), 'external', 'docs guides help manual reference API'),
  ];
}

function page(href: string, label: string, icon: IconName, also: string): PaletteEntry {
  return { id: `page:${href}`, label, icon, also, href };
}

type TextKey = Parameters<typeof t>[0];

const settings = [
  ['/dashboard/settings#retention', 'retention', 'keep videos days expire delete automatically'],
  ['/dashboard/settings#new-videos', 'newVideos', 'captions transcript summary automatic'],
  [
    '/dashboard/settings#playback-policy',
    'playbackPolicy',
    'allowed sites domains countries geo block embed',
  ],
  ['/dashboard/settings#channel', 'channel', 'public page of the project site logo accent RSS'],
  ['/dashboard/settings?part=organisation#limits', 'limits', 'quota rate requests account ID'],
  ['/dashboard/account#password', 'password', 'change security'],
  ['/dashboard/account#two-factor', 'twoFactor', '2FA TOTP authenticator codes security'],
  ['/dashboard/account#passkeys', 'passkeys', 'WebAuthn security key fingerprint'],
  ['/dashboard/account#sessions', 'sessions', 'signed in browsers devices sign out everywhere'],
  ['/dashboard/account#theme', 'theme', 'appearance dark light mode colours'],
  ['/dashboard/settings?part=organisation#name', 'accountName', 'organisation rename'],
] as const;

export function settingEntries(): readonly PaletteEntry[] {
  return settings
    .filter(([, name]) => name !== 'accountName' || can('admin'))
    .map(([href, name, also]) => ({
      id: `setting:${href}`,
      label: t(`search.setting.${name}`),
      detail: t(href.startsWith('/dashboard/account') ? 'search.page.account' : 'search.group.settings'),
      icon: 'settings',
      also,
      href,
    }));
}

interface Action {
  readonly icon: IconName;
  readonly scope: Scope;
  readonly also: string;
}

const dialogActions: readonly (Action & {
  readonly dialog: ShellDialog;
  readonly label: Extract<Parameters<typeof shared>[0], `create.${string}`>;
})[] = [
  {
    dialog: 'browser',
    label: 'create.goLiveBrowser',
    icon: 'video',
    scope: 'live',
    also: 'camera webcam screen stream broadcast studio',
  },
  {
    dialog: 'encoder',
    label: 'create.goLiveEncoder',
    icon: 'live',
    scope: 'live',
    also: 'RTMP SRT WHIP stream key start',
  },
  {
    dialog: 'source',
    label: 'create.goLiveSource',
    icon: 'link',
    scope: 'live',
    also: 'camera pull source RTSP HLS go live relay',
  },
  {
    dialog: 'upload',
    label: 'create.uploadVideos',
    icon: 'upload',
    scope: 'upload',
    also: 'add new file import',
  },
];
const createActions: readonly (Action & {
  readonly name: string;
  readonly label: Extract<TextKey, `search.action.${string}`>;
  readonly href: string;
})[] = [
  {
    name: 'stream',
    label: 'search.action.stream',
    icon: 'live',
    scope: 'live',
    also: 'create add',
    href: '/dashboard/live?new',
  },
  {
    name: 'key',
    label: 'search.action.key',
    icon: 'key',
    scope: 'admin',
    also: 'new key pair add',
    href: '/dashboard/keys?new',
  },
  {
    name: 'invite',
    label: 'search.action.invite',
    icon: 'team',
    scope: 'admin',
    also: 'add member user team invitation',
    href: '/dashboard/team?new',
  },
  {
    name: 'webhook',
    label: 'search.action.webhook',
    icon: 'hook',
    scope: 'admin',
    also: 'create add endpoint',
    href: '/dashboard/webhooks?new',
  },
  {
    name: 'token',
    label: 'search.action.token',
    icon: 'token',
    scope: 'upload',
    also: 'create add',
    href: '/dashboard/upload-tokens?new',
  },
  {
    name: 'theme',
    label: 'search.action.theme',
    icon: 'player',
    scope: 'upload',
    also: 'create add',
    href: '/dashboard/players?new',
  },
  {
    name: 'watermark',
    label: 'search.action.watermark',
    icon: 'stamp',
    scope: 'upload',
    also: 'create add upload logo',
    href: '/dashboard/watermarks?new',
  },
  {
    name: 'project',
    label: 'search.action.project',
    icon: 'folder',
    scope: 'admin',
    also: 'create add',
    href: '/dashboard/projects?new',
  },
];

/** @param path the page that is shown @param go opens another page */
export function actionEntries(path: string, go: (href: string) => void): readonly PaletteEntry[] {
  const leave = (choose: () => void) => () => {
    choose();
    // The open resource belongs to what was chosen before.
    const list = listPathOf(path);
    if (list !== path) go(list);
  };
  return [
    ...dialogActions
      .filter(({ scope }) => can(scope))
      .map(({ dialog, label, icon, also }) =>
        action(dialog, shared(label), icon, also, () => openShellDialog(dialog)),
      ),
    ...createActions
      .filter(({ scope }) => can(scope))
      .map(({ name, label, icon, also, href }) => ({
        id: `action:${name}`,
        label: t(label),
        icon,
        also,
        href,
      })),
    ...environmentActions(leave),
    ...(session.value?.allProjects ?? [])
      .filter(({ projectId }) => projectId !== project.value?.projectId)
      .map(({ projectId, name }) => ({
        ...action(
          projectId,
          t('search.toProject', { name }),
          'folder',
          'change',
          leave(() => chooseProject(projectId)),
        ),
        leaves: true,
      })),
    ...themeActions(),
    action('language', shared('menu.language'), 'globe', languageWords, () => openShellDialog('language')),
    {
      ...action(
        'sign-out',
        shared('menu.signOut'),
        'out',
        'log out leave',
        () => void signOut().catch(showError),
      ),
      leaves: true,
    },
  ];
}

const languageWords = 'language translation English Deutsch Français Español Português 日本語 العربية';

function environmentActions(leave: (choose: () => void) => () => void): readonly PaletteEntry[] {
  return (session.value?.environments ?? [])
    .filter(name => name !== environment.value)
    .map(name => ({
      ...action(
        name,
        t(name === 'sandbox' ? 'search.toSandbox' : 'search.toProduction'),
        'refresh',
        'environment change test',
        leave(() => chooseEnvironment(name)),
      ),
      leaves: true,
    }));
}

const themes: readonly (readonly [Theme, IconName])[] = [
  ['dark', 'moon'],
  ['light', 'sun'],
  ['system', 'screen'],
];

function themeActions(): readonly PaletteEntry[] {
  return themes
    .filter(([name]) => name !== theme.value)
    .map(([name, icon]) =>
      action(name, t(`search.theme.${name}`), icon, 'theme appearance colours', () => chooseTheme(name)),
    );
}

function action(name: string, label: string, icon: IconName, also: string, run: () => void): PaletteEntry {
  return { id: `action:${name}`, label, icon, also, run };
}
