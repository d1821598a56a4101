import type {
  Hook,
  HookResult,
  LiveStream,
  Restream,
  Retention,
  ServerState,
  Usage,
  Video,
  Webhook,
  WebhookDelivery,
} from '../../../api/api-types.ts';
import { formatServerWarning, type WarnedState } from '../../../format/server-warning.ts';
import { formatPercent } from '../../../format/size.ts';
import { formatRelative } from '../../../format/time.ts';
import { titleOf } from '../../../format/video-title.ts';
import { locale } from '../../../state/texts.ts';
import { t } from '../../../texts/overview.ts';
import { formatReason } from '../../live/restreams/restream-reason.ts';
import type { CheckSummary } from '../../server/check-summary.ts';
import { formatAnswer, isGood } from '../../webhooks/delivery-labels.ts';

export interface AttentionItem {
  readonly id: string;
  readonly tone: 'bad' | 'warning' | 'info';
  readonly title: string;
  /** The title is a text of the server, in English. */
  readonly isOfServer?: boolean;
  readonly text?: string | undefined;
  readonly href: string;
  readonly action: string;
}

/** Undefined: not for this role, or not known. */
export interface AttentionSources {
  readonly usage: Usage;
  readonly streams: readonly LiveStream[];
  readonly failedVideos?:
    | { readonly total: number; readonly newest: Video; readonly failure: string | undefined }
    | undefined;
  readonly restreams?: readonly { readonly stream: LiveStream; readonly restreams: readonly Restream[] }[];
  readonly webhooks?: readonly { readonly webhook: Webhook; readonly newest: WebhookDelivery | undefined }[];
  readonly hooks?: readonly Hook[] | undefined;
  readonly trash?: readonly Pick<Video, 'deletesAt'>[] | undefined;
  readonly retention?: Retention | undefined;
  readonly failedInvitations?: readonly string[] | undefined;
  readonly server?: (WarnedState & Pick<ServerState, 'newerVersion' | 'nodes'>) | undefined;
  readonly unverifiedUsers?: number | undefined;
  readonly checks?: CheckSummary | undefined;
}

const dayMs = 86_400_000;
const soonMs = 3 * dayMs;
const almostFull = 0.9;
const tones = ['bad', 'warning', 'info'] as const;

/** Problems that somebody should solve, worst first. */
export function attentionItems(sources: AttentionSources, nowMs: number): readonly AttentionItem[] {
  const items = [
    ...serverItems(sources),
    ...storageItems(sources.usage),
    ...videoItems(sources),
    ...streamItems(sources),
    ...webhookItems(sources),
    ...hookItems(sources.hooks ?? []),
    ...deletionItems(sources, nowMs),
    ...peopleItems(sources),
  ];
  return items.toSorted((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone));
}

function serverItems({ server, checks }: AttentionSources): AttentionItem[] {
  const page = { href: '/dashboard/server', action: t('attention.openServer') };
  const lost = server?.nodes?.filter(({ state }) => state === 'unresponsive') ?? [];
  return [
    ...(server?.warnings ?? [])
      .filter(({ code }) => code !== 'encoding-paused')
      .map(({ code, text }) => {
        const translated = formatServerWarning(code, server!);
        return {
          id: `server ${code}`,
          tone: serverTones[code] ?? ('warning' as const),
          title: translated ?? text,
          isOfServer: translated === undefined,
          ...page,
        };
      }),
    ...lost.map(({ nodeId, url }) => ({
      id: `node ${nodeId}`,
      tone: 'bad' as const,
      title: t('attention.notResponding', { server: hostOf(url) }),
      ...page,
    })),
    ...(checks === undefined || checks.failed.length + checks.warnings.length === 0
      ? []
      : [
          {
            id: 'checks',
            tone: checks.failed.length > 0 ? ('bad' as const) : ('warning' as const),
            title: t(checks.failed.length > 0 ? 'attention.checksFailed' : 'attention.checksWarn'),
            text: t('attention.checked', {
              checks: new Intl.ListFormat(locale(), { type: 'unit' }).format([
                ...checks.failed,
                ...checks.warnings,
              ]),
              time: formatRelative(checks.checkedAt),
            }),
            href: '/dashboard/server',
            action: t('attention.seeChecks'),
          },
        ]),
    ...(server?.newerVersion === undefined
      ? []
      : [
          {
            id: 'version',
            tone: 'info' as const,
            title: t('attention.newVersion', { version: server.newerVersion }),
            href: '/docs/upgrading',
            action: t('attention.howToUpgrade'),
          },
        ]),
  ];
}

const serverTones: Readonly<Record<string, AttentionItem['tone']>> = {
  'disk-full': 'bad',
  'certificate-failed': 'bad',
  'program-lacks': 'bad',
  // Passes.
  'cpu-busy': 'info',
};

function storageItems({ storage: { totalBytes, maxBytes } }: Usage): AttentionItem[] {
  if (maxBytes === undefined || totalBytes < almostFull * maxBytes) return [];
  const isFull = totalBytes >= maxBytes;
  return [
    {
      id: 'storage',
      tone: isFull ? 'bad' : 'warning',
      title: isFull
        ? t('attention.storageFull')
        : t('attention.storageUsed', { share: formatPercent((100 * totalBytes) / maxBytes) }),
      text: t(isFull ? 'attention.storageFullText' : 'attention.storageUsedText'),
      href: '/dashboard/usage',
      action: t('attention.seeUsage'),
    },
  ];
}

function videoItems({ failedVideos }: AttentionSources): AttentionItem[] {
  if (failedVideos === undefined) return [];
  const { total, newest, failure } = failedVideos;
  const isOne = total === 1;
  return [
    {
      id: 'failed-videos',
      tone: 'bad',
      title: isOne
        ? t('attention.videoFailed', { title: titleOf(newest) })
        : t('attention.videosFailed', { count: total }),
      text: isOne ? failure : t('attention.newestFailed', { title: titleOf(newest) }),
      href: isOne ? `/dashboard/videos/${newest.videoId}` : '/dashboard/videos?status=failed',
      action: t(isOne ? 'attention.openVideo' : 'attention.showVideos'),
    },
  ];
}

function streamItems({ streams, restreams = [] }: AttentionSources): AttentionItem[] {
  return [
    ...streams
      .filter(({ source }) => source?.enabled === true && source.state === 'retrying')
      .map(({ liveStreamId, name, source }) => ({
        id: `source ${liveStreamId}`,
        tone: 'warning' as const,
        title: t('attention.sourceFailed', { name }),
        text: source?.reason,
        href: `/dashboard/live/${liveStreamId}?part=source`,
        action: t('attention.checkSource'),
      })),
    ...restreams.flatMap(({ stream: { liveStreamId, name }, restreams: destinations }) =>
      destinations
        .filter(({ state }) => state === 'stopped' || state === 'retrying')
        .map(({ name: destination, state, reason, lastError }) => ({
          id: `restream ${liveStreamId} ${destination}`,
          tone: state === 'stopped' ? ('bad' as const) : ('warning' as const),
          title: t(state === 'stopped' ? 'attention.restreamStopped' : 'attention.restreamRetrying', {
            name,
            destination,
          }),
          text: reason === undefined ? lastError : formatReason(reason),
          href: `/dashboard/live/${liveStreamId}?part=restreams`,
          action: t('attention.checkRestream'),
        })),
    ),
  ];
}

function webhookItems({ webhooks = [] }: AttentionSources): AttentionItem[] {
  return webhooks.flatMap(({ webhook: { webhookId, url }, newest }) => {
    if (newest?.status !== 'failed' && newest?.status !== 'retrying') return [];
    const { lastAttempt } = newest;
    return {
      id: `webhook ${webhookId}`,
      tone: newest.status === 'failed' ? ('bad' as const) : ('warning' as const),
      title: t('attention.webhookFailing', { server: hostOf(url) }),
      text: lastAttempt && answerText(lastAttempt),
      href: `/dashboard/webhooks/${webhookId}`,
      action: t('attention.seeDeliveries'),
    };
  });
}

function answerText(attempt: Pick<HookResult, 'statusCode' | 'error' | 'errorCode' | 'attemptedAt'>): string {
  const answer = formatAnswer(attempt).replace(/[.。]$/, '');
  return t('attention.answer', { answer, time: formatRelative(attempt.attemptedAt) });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function hookItems(hooks: readonly Hook[]): AttentionItem[] {
  return hooks.flatMap(({ hookId, hook, results, onFailure }) => {
    const newest = results.find(({ test }) => !test);
    if (newest === undefined || isGood(newest)) return [];

    return {
      id: `hook ${hookId}`,
      tone: onFailure === 'refuse' ? ('bad' as const) : ('warning' as const),
      title: t('attention.hookFailing', { hook }),
      text: `${answerText(newest)} ${t(`attention.hookEffect.${hook}.${onFailure}`)}`,
      href: '/dashboard/webhooks',
      action: t('attention.checkHook'),
    };
  });
}

function deletionItems({ trash = [], retention }: AttentionSources, nowMs: number): AttentionItem[] {
  const isSoon = (time: string | null) => time !== null && Date.parse(time) - nowMs < soonMs;
  const leaving = trash.filter(({ deletesAt }) => isSoon(deletesAt));
  const expiring = retention?.next.filter(({ expiresAt }) => isSoon(expiresAt)) ?? [];
  const first = (times: readonly (string | null)[]) =>
    formatRelative(Math.min(...times.map(time => Date.parse(time ?? ''))), nowMs);
  return [
    ...(expiring.length === 0
      ? []
      : [
          {
            id: 'expiring',
            tone: 'warning' as const,
            title:
              expiring.length === 1
                ? t('attention.expires', {
                    title: titleOf(expiring[0]!),
                    time: first([expiring[0]!.expiresAt]),
                  })
                : t(mayBeMore(expiring, retention?.next) ? 'attention.manyExpire' : 'attention.expireSoon', {
                    count: expiring.length,
                  }),
            text:
              expiring.length === 1
                ? undefined
                : t('attention.firstExpires', {
                    title: titleOf(expiring[0]!),
                    time: first([expiring[0]!.expiresAt]),
                  }),
            href: expiring.length === 1 ? `/dashboard/videos/${expiring[0]!.videoId}` : '/dashboard/settings',
            action: t(expiring.length === 1 ? 'attention.openVideo' : 'attention.seeRetention'),
          },
        ]),
    ...(leaving.length === 0
      ? []
      : [
          {
            id: 'trash',
            tone: 'info' as const,
            title: t(mayBeMore(leaving, trash) ? 'attention.manyInTrash' : 'attention.inTrash', {
              count: leaving.length,
            }),
            text: t('attention.trashTime', {
              count: leaving.length,
              time: first(leaving.map(({ deletesAt }) => deletesAt)),
            }),
            href: '/dashboard/videos/trash',
            action: t('attention.openTrash'),
          },
        ]),
  ];
}

/** True when there may be more than were loaded. */
function mayBeMore(found: readonly unknown[], loaded: readonly unknown[] = []): boolean {
  return found.length === loaded.length && found.length > 9;
}

function peopleItems({ unverifiedUsers = 0, failedInvitations = [] }: AttentionSources): AttentionItem[] {
  return [
    ...failedInvitations.map(email => ({
      id: `invitation ${email}`,
      tone: 'warning' as const,
      title: t('attention.invitationFailed', { email }),
      href: '/dashboard/team',
      action: t('attention.openTeam'),
    })),
    ...(unverifiedUsers === 0
      ? []
      : [
          {
            id: 'unverified',
            tone: 'info' as const,
            title: t('attention.unverified', { count: unverifiedUsers }),
            href: '/dashboard/server',
            action: t('attention.review'),
          },
        ]),
  ];
}
