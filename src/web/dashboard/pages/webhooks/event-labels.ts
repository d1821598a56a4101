import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';
import { t } from '../../texts/developers.ts';

export type EventType = Webhook['events'][number];

interface EventLabel {
  readonly label: string;
  readonly hint: string;
}

export const eventGroups = [
  {
    name: 'live',
    types: [
      'live-stream.broadcast.started',
      'live-stream.broadcast.ended',
      'live-stream.alarm.raised',
      'live-stream.alarm.cleared',
      'live-stream.quality.dropped',
      'live-stream.restream.stopped',
    ],
  },
  { name: 'recordings', types: ['video.source.recorded', 'live-stream.recording.stopped'] },
  {
    name: 'videos',
    types: [
      'video.encoding.quality.completed',
      'video.source.failed',
      'video.encoding.failed',
      'video.expiring',
      'video.expired',
      'video.caption.generated',
      'video.summary.generated',
    ],
  },
] as const satisfies readonly { readonly name: string; readonly types: readonly EventType[] }[];

const known: ReadonlySet<string> = new Set([...eventGroups.flatMap(({ types }) => types), 'webhook.test']);

/** Returns the type itself for one that a newer server has. */
export function eventLabel(type: WebhookDelivery['type']): EventLabel {
  if (!known.has(type)) return { label: type, hint: '' };
  return {
    label: t(`events.label.${type}`),
    hint: type === 'webhook.test' ? '' : t(`events.hint.${type}`),
  };
}

export function summarizeEvents(types: readonly EventType[]): string {
  const first = types.slice(0, 2).map(type => eventLabel(type).label);
  const more = types.length - first.length;
  return [...first, ...(more > 0 ? [t('webhooks.more', { count: more })] : [])].join(' · ');
}
