import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';

export type EventType = Webhook['events'][number];

interface EventLabel {
  readonly label: string;
  readonly hint: string;
}

const eventLabels: Readonly<Record<WebhookDelivery['type'], EventLabel>> = {
  'live-stream.broadcast.started': {
    label: 'A broadcast starts',
    hint: 'The live stream can be watched.',
  },
  'live-stream.broadcast.ended': {
    label: 'A broadcast ends',
    hint: 'For any reason.',
  },
  'live-stream.alarm.raised': {
    label: 'An alarm is raised',
    hint: 'The encoder has a problem that affects viewers.',
  },
  'live-stream.alarm.cleared': {
    label: 'An alarm is cleared',
    hint: 'The problem has been gone for ten seconds.',
  },
  'live-stream.quality.dropped': {
    label: 'A quality is dropped',
    hint: 'The server couldn’t keep up. The broadcast continues without it.',
  },
  'live-stream.restream.stopped': {
    label: 'A restream stops',
    hint: 'The server no longer sends to a destination. The broadcast continues.',
  },
  'video.source.recorded': {
    label: 'A recording is complete',
    hint: 'The recording is a video now and will be encoded.',
  },
  'live-stream.recording.stopped': {
    label: 'A recording stops early',
    hint: 'The disk is full, too slow or broken. The broadcast continues.',
  },
  'video.encoding.quality.completed': {
    label: 'A quality is encoded',
    hint: 'Once for each quality of a video, and once for its MP4.',
  },
  'video.source.failed': {
    label: 'A source fails',
    hint: 'An upload or import did not complete. You can upload another file.',
  },
  'video.encoding.failed': {
    label: 'An encoding fails',
    hint: 'Includes the reason and whether the video still plays.',
  },
  'video.expiring': {
    label: 'A video expires soon',
    hint: '24 hours before. You can still keep it.',
  },
  'video.expired': {
    label: 'A video has expired',
    hint: 'It’s in the trash, or deleted if the trash is turned off.',
  },
  'video.caption.generated': {
    label: 'Captions are generated',
    hint: 'Automatic captions are complete, and offered to viewers.',
  },
  'video.summary.generated': {
    label: 'A summary is generated',
    hint: 'The generated summary of a video is complete.',
  },
  'webhook.test': { label: 'Test event', hint: 'Sent from this page or by the API.' },
};

export const eventGroups: readonly { readonly title: string; readonly types: readonly EventType[] }[] = [
  {
    title: 'Live streams',
    types: [
      'live-stream.broadcast.started',
      'live-stream.broadcast.ended',
      'live-stream.alarm.raised',
      'live-stream.alarm.cleared',
      'live-stream.quality.dropped',
      'live-stream.restream.stopped',
    ],
  },
  { title: 'Recordings', types: ['video.source.recorded', 'live-stream.recording.stopped'] },
  {
    title: 'Videos',
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
];

export function eventLabel(type: WebhookDelivery['type']): EventLabel {
  return eventLabels[type] ?? { label: type, hint: '' };
}

export function summarizeEvents(types: readonly EventType[], shown = 2): string {
  const first = types.slice(0, shown).map((type, index) => {
    const { label } = eventLabel(type);
    return index === 0 ? label : label.charAt(0).toLowerCase() + label.slice(1);
  });
  const more = types.length - first.length;
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ');
}
