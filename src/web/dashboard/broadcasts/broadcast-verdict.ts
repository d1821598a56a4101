import type { IngestAlarm } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import type { BroadcastStats } from './broadcast-stats.ts';
import type { StreamState } from './stream-state.ts';

/** One sentence about a live stream that stays the same while nothing changes for viewers. */
export interface BroadcastVerdict {
  readonly tone: 'neutral' | 'good' | 'warning' | 'bad';
  readonly text: string;
}

interface JudgedBroadcast {
  readonly state: StreamState;
  /** Undefined before the first measurement. */
  readonly stats?: BroadcastStats | undefined;
  readonly alarms: readonly Pick<IngestAlarm, 'alarm' | 'message'>[];
  /** The server pulls the stream. */
  readonly isPulled?: boolean | undefined;
  /** The publisher while there is nothing to play yet. */
  readonly connecting?: { readonly waitingFor: 'media' | 'keyframe' } | undefined;
}

/** Share of packets lost for good from which viewers see it. */
const maxLostShare = 0.01;
const minPackets = 500;

/** Alarms by what they mean for viewers, worst first. */
const alarmVerdicts: Readonly<Record<string, readonly [tone: BroadcastVerdict['tone'], text: AlarmText]>> = {
  'video-missing': ['bad', 'verdict.alarm.videoMissing'],
  'audio-missing': ['bad', 'verdict.alarm.audioMissing'],
  'frequent-reconnects': ['bad', 'verdict.alarm.reconnects'],
  'bitrate-collapsed': ['bad', 'verdict.alarm.bitrateCollapsed'],
  'bitrate-low': ['warning', 'verdict.alarm.bitrateLow'],
  'frame-rate-collapsed': ['warning', 'verdict.alarm.frameRate'],
  'audio-video-drift': ['warning', 'verdict.alarm.drift'],
  'keyframes-too-far-apart': ['warning', 'verdict.alarm.keyframes'],
  'timestamps-jumping': ['warning', 'verdict.alarm.timestamps'],
};

type AlarmText = Extract<Parameters<typeof t>[0], `verdict.alarm.${string}`>;

export function broadcastVerdict({
  state,
  stats,
  alarms,
  isPulled = false,
  connecting,
}: JudgedBroadcast): BroadcastVerdict {
  if (state === 'off' && connecting !== undefined) {
    const isSilent = connecting.waitingFor === 'media';
    return { tone: 'neutral', text: t(isSilent ? 'verdict.waitingMedia' : 'verdict.waitingKeyframe') };
  }
  if (state === 'off') {
    return { tone: 'neutral', text: t(isPulled ? 'verdict.offlinePulled' : 'verdict.offline') };
  }
  if (state === 'stopping') return { tone: 'neutral', text: t('verdict.stopping') };
  if (state === 'waiting') {
    return { tone: 'bad', text: t(isPulled ? 'verdict.sourceAway' : 'verdict.encoderAway') };
  }
  if (alarms.length > 0) return alarmVerdict(alarms);
  if (stats === undefined) return { tone: 'neutral', text: t('verdict.measuring') };
  return hasPacketLoss(stats)
    ? { tone: 'warning', text: t('verdict.packetLoss') }
    : { tone: 'good', text: healthyText(stats) };
}

function alarmVerdict(alarms: JudgedBroadcast['alarms']): BroadcastVerdict {
  const worst = Object.keys(alarmVerdicts).find(kind => alarms.some(({ alarm }) => alarm === kind));
  const [first] = alarms;
  const verdict = worst === undefined ? undefined : alarmVerdicts[worst];
  const tone = verdict?.[0] ?? 'warning';
  const text = verdict === undefined ? first!.message.replace(/\.$/, '') : t(verdict[1]);
  const count = alarms.length - 1;
  return { tone, text: count === 0 ? t('verdict.only', { text }) : t('verdict.more', { text, count }) };
}

function hasPacketLoss({ transport }: BroadcastStats): boolean {
  if (transport === undefined) return false;
  const { packetsReceived, packetsLost, packetsRecovered } = transport;
  const lost = packetsLost - packetsRecovered;
  const sent = packetsReceived + lost;
  return sent >= minPackets && lost / sent > maxLostShare;
}

function healthyText({ width, height, audioCodec }: BroadcastStats): string {
  if (width === undefined || height === undefined) return t('verdict.healthyAudio');
  const quality = `${Math.min(width, height)}p`;
  return t(audioCodec === undefined ? 'verdict.healthySilent' : 'verdict.healthy', { quality });
}
