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
    page('/dashboard/account', 'Account', 'user', 'profile you email'),
    page('/dashboard/videos/trash', 'Trash', 'trash', 'deleted videos restore bin'),
    ...(isAllowed({ scope: 'admin', isForOperator: true })
      ? [
          page(
            '/dashboard/server/settings',
            'Server settings',
            'settings',
            'change configuration environment variables ports HTTPS certificate domain',
          ),
        ]
      : []),
    page('/docs', 'Documentation', 'external', 'docs guides help manual reference API'),
  ];
}

function page(href: string, label: string, icon: IconName, also: string): PaletteEntry {
  return { id: `page:${href}`, label, icon, also, href };
}

const settings: readonly (readonly [href: string, label: string, also: string])[] = [
  ['/dashboard/settings#retention', 'Retention', 'keep videos days expire delete automatically'],
  ['/dashboard/settings#new-videos', 'Defaults of new videos', 'captions transcript summary automatic'],
  [
    '/dashboard/settings#playback-policy',
    'Playback policy',
    'allowed sites domains countries geo block embed',
  ],
  ['/dashboard/settings#channel', 'Channel', 'public page of the project site logo accent RSS'],
  ['/dashboard/settings?part=organisation#limits', 'Limits', 'quota rate requests account ID'],
  ['/dashboard/account#password', 'Password', 'change security'],
  ['/dashboard/account#two-factor', 'Two-factor sign-in', '2FA TOTP authenticator codes security'],
  ['/dashboard/account#passkeys', 'Passkeys', 'WebAuthn security key fingerprint'],
  ['/dashboard/account#sessions', 'Active sessions', 'signed in browsers devices sign out everywhere'],
  ['/dashboard/account#theme', 'Theme', 'appearance dark light mode colours'],
];

export function settingEntries(): readonly PaletteEntry[] {
  const shown = can('admin')
    ? [
        ...settings,
        ['/dashboard/settings?part=organisation#name', 'Account name', 'organisation rename'] as const,
      ]
    : settings;
  return shown.map(([href, label, also]) => ({
    id: `setting:${href}`,
    label,
    detail: href.startsWith('/dashboard/account') ? 'Account' : 'Settings',
    icon: 'settings',
    also,
    href,
  }));
}

type Action = readonly [name: string, label: string, icon: IconName, scope: Scope, also: string];

const dialogActions: readonly (readonly [...Action, dialog: ShellDialog])[] = [
  [
    'browser',
    'Go live from this browser',
    'video',
    'live',
    'camera webcam screen stream broadcast studio',
    'browser',
  ],
  [
    'encoder',
    'Go live with OBS or another encoder',
    'live',
    'live',
    'RTMP SRT WHIP stream key start',
    'encoder',
  ],
  ['source', 'Pull a source', 'link', 'live', 'camera RTSP HLS go live relay', 'source'],
  ['upload', 'Upload videos', 'upload', 'upload', 'add new file import', 'upload'],
];
const createActions: readonly (readonly [...Action, href: string])[] = [
  ['stream', 'New live stream', 'live', 'live', 'create add', '/dashboard/live?new'],
  ['key', 'Create API key', 'key', 'admin', 'new key pair add', '/dashboard/keys?new'],
  ['invite', 'Invite people', 'team', 'admin', 'add member user team invitation', '/dashboard/team?new'],
  ['webhook', 'New webhook', 'hook', 'admin', 'create add endpoint', '/dashboard/webhooks?new'],
  ['token', 'New upload token', 'token', 'upload', 'create add', '/dashboard/upload-tokens?new'],
  ['theme', 'New player theme', 'player', 'upload', 'create add', '/dashboard/players?new'],
  ['watermark', 'New watermark', 'stamp', 'upload', 'create add upload logo', '/dashboard/watermarks?new'],
  ['project', 'New project', 'folder', 'admin', 'create add', '/dashboard/projects?new'],
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
      .filter(([, , , scope]) => can(scope))
      .map(([name, label, icon, , also, dialog]) =>
        action(name, label, icon, also, () => openShellDialog(dialog)),
      ),
    ...createActions
      .filter(([, , , scope]) => can(scope))
      .map(([name, label, icon, , also, href]) => ({ id: `action:${name}`, label, icon, also, href })),
    ...environmentActions(leave),
    ...(session.value?.allProjects ?? [])
      .filter(({ projectId }) => projectId !== project.value?.projectId)
      .map(({ projectId, name }) => ({
        ...action(
          projectId,
          `Switch to project ${name}`,
          'folder',
          'change',
          leave(() => chooseProject(projectId)),
        ),
        leaves: true,
      })),
    ...themeActions(),
    {
      ...action('sign-out', 'Sign out', 'out', 'log out leave', () => void signOut().catch(showError)),
      leaves: true,
    },
  ];
}

function environmentActions(leave: (choose: () => void) => () => void): readonly PaletteEntry[] {
  return (session.value?.environments ?? [])
    .filter(name => name !== environment.value)
    .map(name => ({
      ...action(
        name,
        name === 'sandbox' ? 'Switch to the sandbox' : 'Switch to production',
        'refresh',
        'environment change test',
        leave(() => chooseEnvironment(name)),
      ),
      leaves: true,
    }));
}

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['dark', 'Use dark mode', 'moon'],
  ['light', 'Use light mode', 'sun'],
  ['system', 'Use the theme of the device', 'screen'],
];

function themeActions(): readonly PaletteEntry[] {
  return themes
    .filter(([name]) => name !== theme.value)
    .map(([name, label, icon]) =>
      action(name, label, icon, 'theme appearance colours', () => chooseTheme(name)),
    );
}

function action(name: string, label: string, icon: IconName, also: string, run: () => void): PaletteEntry {
  return { id: `action:${name}`, label, icon, also, run };
}
