import type {
  Hook,
  LiveStream,
  Restream,
  Retention,
  ServerState,
  Usage,
  Video,
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
} from '../../../api/api-types.ts';
import { formatNumber, formatPercent } from '../../../format/size.ts';
import { formatRelative } from '../../../format/time.ts';
import { titleOf } from '../../../format/video-title.ts';
import type { CheckSummary } from '../../server/check-summary.ts';
import { formatAnswer, isGood } from '../../webhooks/delivery-labels.ts';

export interface AttentionItem {
  readonly id: string;
  readonly tone: 'bad' | 'warning' | 'info';
  readonly title: string;
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
  readonly server?: Pick<ServerState, 'warnings' | 'newerVersion' | 'nodes'> | undefined;
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
  const page = { href: '/dashboard/server', action: 'Open server' };
  const lost = server?.nodes?.filter(({ state }) => state === 'unresponsive') ?? [];
  return [
    ...(server?.warnings ?? [])
      .filter(({ code }) => code !== 'encoding-paused')
      .map(({ code, text }) => ({
        id: `server ${code}`,
        tone: serverTones[code] ?? ('warning' as const),
        title: text,
        ...page,
      })),
    ...lost.map(({ nodeId, url }) => ({
      id: `node ${nodeId}`,
      tone: 'bad' as const,
      title: `${URL.canParse(url) ? new URL(url).host : url} isn’t responding`,
      ...page,
    })),
    ...(checks === undefined || checks.failed.length + checks.warnings.length === 0
      ? []
      : [
          {
            id: 'checks',
            tone: checks.failed.length > 0 ? ('bad' as const) : ('warning' as const),
            title: checks.failed.length > 0 ? 'Checks of the server failed' : 'The checks of the server warn',
            text: `${[...checks.failed, ...checks.warnings].join(', ')}. Checked ${formatRelative(checks.checkedAt)}.`,
            href: '/dashboard/server',
            action: 'See checks',
          },
        ]),
    ...(server?.newerVersion === undefined
      ? []
      : [
          {
            id: 'version',
            tone: 'info' as const,
            title: `Millrace ${server.newerVersion} is available`,
            href: '/docs/upgrading',
            action: 'How to upgrade',
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
        ? 'Your storage is full'
        : `${formatPercent((100 * totalBytes) / maxBytes)} of your storage is used`,
      text: isFull
        ? 'Uploads are refused, and broadcasts are not recorded.'
        : 'When it is full, uploads are refused, and broadcasts are not recorded.',
      href: '/dashboard/usage',
      action: 'See usage',
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
      title: isOne ? `“${titleOf(newest)}” failed` : `${formatNumber(total)} videos failed`,
      text: isOne ? failure : `The newest is “${titleOf(newest)}”.`,
      href: isOne ? `/dashboard/videos/${newest.videoId}` : '/dashboard/videos?status=failed',
      action: isOne ? 'Open video' : 'Show videos',
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
        title: `The source of “${name}” can’t be pulled`,
        text: source?.reason,
        href: `/dashboard/live/${liveStreamId}?part=source`,
        action: 'Check source',
      })),
    ...restreams.flatMap(({ stream: { liveStreamId, name }, restreams: destinations }) =>
      destinations
        .filter(({ state }) => state === 'stopped' || state === 'retrying')
        .map(({ name: destination, state, reason, lastError }) => ({
          id: `restream ${liveStreamId} ${destination}`,
          tone: state === 'stopped' ? ('bad' as const) : ('warning' as const),
          title:
            state === 'stopped'
              ? `“${name}” is no longer sent to ${destination}`
              : `“${name}” can’t be sent to ${destination}. Trying again.`,
          text: reason ?? lastError,
          href: `/dashboard/live/${liveStreamId}?part=restreams`,
          action: 'Check restream',
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
      title: `The webhook to ${URL.canParse(url) ? new URL(url).host : url} is failing`,
      text: lastAttempt && answerText(lastAttempt),
      href: `/dashboard/webhooks/${webhookId}`,
      action: 'See deliveries',
    };
  });
}

function answerText(attempt: Pick<WebhookAttempt, 'statusCode' | 'error' | 'attemptedAt'>): string {
  return `${formatAnswer(attempt).replace(/\.$/, '')}, ${formatRelative(attempt.attemptedAt)}.`;
}

function hookItems(hooks: readonly Hook[]): AttentionItem[] {
  return hooks.flatMap(({ hookId, hook, results, onFailure }) => {
    const newest = results.find(({ test }) => !test);
    if (newest === undefined || isGood(newest)) return [];
    const effect = {
      publish: { refuse: 'Encoders are refused.', allow: 'Encoders go live without its answer.' },
      play: { refuse: 'Viewers are refused.', allow: 'Viewers play without its answer.' },
    }[hook][onFailure];
    return {
      id: `hook ${hookId}`,
      tone: onFailure === 'refuse' ? ('bad' as const) : ('warning' as const),
      title: `Your ${hook} hook is failing`,
      text: `${answerText(newest)} ${effect}`,
      href: '/dashboard/webhooks',
      action: 'Check hook',
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
                ? `“${titleOf(expiring[0]!)}” expires ${first([expiring[0]!.expiresAt])}`
                : `${countOf(expiring, retention?.next)} videos expire soon`,
            text:
              expiring.length === 1
                ? undefined
                : `The first is “${titleOf(expiring[0]!)}”, ${first([expiring[0]!.expiresAt])}.`,
            href: expiring.length === 1 ? `/dashboard/videos/${expiring[0]!.videoId}` : '/dashboard/settings',
            action: expiring.length === 1 ? 'Open video' : 'See retention',
          },
        ]),
    ...(leaving.length === 0
      ? []
      : [
          {
            id: 'trash',
            tone: 'info' as const,
            title: `${countOf(leaving, trash)} ${leaving.length === 1 ? 'video' : 'videos'} in the trash will be deleted permanently`,
            text: `${leaving.length === 1 ? 'It goes' : 'The first goes'} ${first(leaving.map(({ deletesAt }) => deletesAt))}.`,
            href: '/dashboard/videos/trash',
            action: 'Open trash',
          },
        ]),
  ];
}

/** There may be more than were loaded. */
function countOf(found: readonly unknown[], loaded: readonly unknown[] = []): string {
  return found.length === loaded.length && found.length > 9
    ? `${formatNumber(found.length)} or more`
    : formatNumber(found.length);
}

function peopleItems({ unverifiedUsers = 0, failedInvitations = [] }: AttentionSources): AttentionItem[] {
  return [
    ...failedInvitations.map(email => ({
      id: `invitation ${email}`,
      tone: 'warning' as const,
      title: `The invitation to ${email} couldn’t be sent`,
      href: '/dashboard/team',
      action: 'Open team',
    })),
    ...(unverifiedUsers === 0
      ? []
      : [
          {
            id: 'unverified',
            tone: 'info' as const,
            title:
              unverifiedUsers === 1
                ? '1 user has not verified their email address'
                : `${formatNumber(unverifiedUsers)} users have not verified their email address`,
            href: '/dashboard/server',
            action: 'Review',
          },
        ]),
  ];
}
