import type { ComponentType } from 'preact';
import type { Scope } from '../state/session.ts';
import type { PageProps } from './page-props.ts';

export interface PageRoute {
  /** The path, with `:name` for parameters. */
  readonly path: string;
  /** The page is only for roles that have it. */
  readonly scope?: Scope;
  /** The page is only for the account of the server's operator. */
  readonly isForOperator?: true;
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** Routes of the dashboard; the first match is shown. */
export const routes: readonly PageRoute[] = [
  {
    path: '/dashboard',
    load: () => import('../pages/overview/overview-page.tsx').then(module => module.OverviewPage),
  },
  {
    path: '/dashboard/live',
    load: () => import('../pages/live/live-streams-page.tsx').then(module => module.LiveStreamsPage),
  },
  {
    path: '/dashboard/live/:liveStreamId',
    load: () => import('../pages/live/live-stream-page.tsx').then(module => module.LiveStreamPage),
  },
  {
    path: '/dashboard/live/:liveStreamId/studio',
    scope: 'live',
    load: () => import('../pages/live/studio/studio-page.tsx').then(module => module.StudioPage),
  },
  {
    path: '/dashboard/videos',
    load: () => import('../pages/videos/videos-page.tsx').then(module => module.VideosPage),
  },
  {
    path: '/dashboard/videos/trash',
    load: () => import('../pages/videos/trash-page.tsx').then(module => module.TrashPage),
  },
  {
    path: '/dashboard/videos/:videoId',
    load: () => import('../pages/video/video-page.tsx').then(module => module.VideoPage),
  },
  {
    path: '/dashboard/videos/:videoId/captions/:language',
    load: () => import('../pages/captions/captions-page.tsx').then(module => module.CaptionsPage),
  },
  {
    path: '/dashboard/analytics',
    load: () => import('../pages/analytics/analytics-page.tsx').then(module => module.AnalyticsPage),
  },
  {
    path: '/dashboard/players',
    load: () => import('../pages/players/players-page.tsx').then(module => module.PlayersPage),
  },
  {
    path: '/dashboard/players/:playerId',
    scope: 'upload',
    load: () => import('../pages/players/player-page.tsx').then(module => module.PlayerPage),
  },
  {
    path: '/dashboard/watermarks',
    load: () => import('../pages/watermarks/watermarks-page.tsx').then(module => module.WatermarksPage),
  },
  {
    path: '/dashboard/keys',
    scope: 'admin',
    load: () => import('../pages/keys/keys-page.tsx').then(module => module.KeysPage),
  },
  {
    path: '/dashboard/upload-tokens',
    scope: 'upload',
    load: () =>
      import('../pages/upload-tokens/upload-tokens-page.tsx').then(module => module.UploadTokensPage),
  },
  {
    path: '/dashboard/webhooks',
    scope: 'admin',
    load: () => import('../pages/webhooks/webhooks-page.tsx').then(module => module.WebhooksPage),
  },
  {
    path: '/dashboard/webhooks/:webhookId',
    scope: 'admin',
    load: () => import('../pages/webhooks/webhook-page.tsx').then(module => module.WebhookPage),
  },
  {
    path: '/dashboard/settings',
    load: () => import('../pages/settings/settings-page.tsx').then(module => module.SettingsPage),
  },
  {
    path: '/dashboard/usage',
    load: () => import('../pages/usage/usage-page.tsx').then(module => module.UsagePage),
  },
  {
    path: '/dashboard/server',
    scope: 'admin',
    isForOperator: true,
    load: () => import('../pages/server/server-page.tsx').then(module => module.ServerPage),
  },
  {
    path: '/dashboard/server/settings',
    scope: 'admin',
    isForOperator: true,
    load: () => import('../pages/server/server-settings-page.tsx').then(module => module.ServerSettingsPage),
  },
  {
    path: '/dashboard/team',
    load: () => import('../pages/team/team-page.tsx').then(module => module.TeamPage),
  },
  {
    path: '/dashboard/activity',
    scope: 'admin',
    load: () => import('../pages/activity/activity-page.tsx').then(module => module.ActivityPage),
  },
  {
    path: '/dashboard/projects',
    load: () => import('../pages/projects/projects-page.tsx').then(module => module.ProjectsPage),
  },
  {
    path: '/dashboard/account',
    load: () => import('../pages/account/account-page.tsx').then(module => module.AccountPage),
  },
];
