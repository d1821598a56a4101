import type { Webhook, WebhookDelivery } from '../../api/api-types.ts';

export type EventType = Webhook['events'][number];

interface EventLabel {
  readonly words: string;
  readonly hint: string;
}

const eventLabels: Readonly<Record<WebhookDelivery['type'], EventLabel>> = {
  'live-stream.broadcast.started': {
    words: 'A broadcast starts',
    hint: 'The live stream can be watched.',
  },
  'live-stream.broadcast.ended': {
    words: 'A broadcast ends',
    hint: 'For whatever reason.',
  },
  'live-stream.alarm.raised': {
    words: 'An alarm is raised',
    hint: 'The encoder does something that viewers suffer from.',
  },
  'live-stream.alarm.cleared': {
    words: 'An alarm is over',
    hint: 'What was wrong has been well for ten seconds.',
  },
  'live-stream.quality.dropped': {
    words: 'A quality is dropped',
    hint: 'The server could not keep up with it; the broadcast goes on without.',
  },
  'live-stream.restream.stopped': {
    words: 'A restream stops',
    hint: 'A destination gets no more, while the broadcast goes on.',
  },
  'video.source.recorded': {
    words: 'A recording is complete',
    hint: 'It is a video now, and is encoded next.',
  },
  'live-stream.recording.stopped': {
    words: 'A recording stops early',
    hint: 'The disk is too full, too slow or broken; the broadcast goes on.',
  },
  'video.encoding.quality.completed': {
    words: 'A quality is encoded',
    hint: 'Once for each quality of a video, and once for its MP4.',
  },
  'video.source.failed': {
    words: 'A source fails',
    hint: 'An upload or import did not complete. The video accepts another file.',
  },
  'video.encoding.failed': {
    words: 'An encoding fails',
    hint: 'Tells the reason, and whether the video still plays.',
  },
  'video.caption.generated': {
    words: 'Captions are generated',
    hint: 'This server generates none.',
  },
  'video.summary.generated': {
    words: 'A summary is generated',
    hint: 'This server generates none.',
  },
  'webhook.test': { words: 'Test event', hint: 'Sent from this page or by the API.' },
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
    types: ['video.encoding.quality.completed', 'video.source.failed', 'video.encoding.failed'],
  },
  { title: 'Not sent by this server', types: ['video.caption.generated', 'video.summary.generated'] },
];

export function eventLabel(type: WebhookDelivery['type']): EventLabel {
  return eventLabels[type] ?? { words: type, hint: '' };
}

export function summarizeEvents(types: readonly EventType[], shown = 2): string {
  const first = types.slice(0, shown).map((type, index) => {
    const { words } = eventLabel(type);
    return index === 0 ? words : words.charAt(0).toLowerCase() + words.slice(1);
  });
  const more = types.length - first.length;
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ');
}
