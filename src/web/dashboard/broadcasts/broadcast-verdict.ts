import type { IngestAlarm } from '../api/api-types.ts';
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
const alarmVerdicts: Readonly<Record<string, BroadcastVerdict>> = {
  'video-missing': { tone: 'bad', text: 'Viewers see a frozen picture: no video arrives' },
  'audio-missing': { tone: 'bad', text: 'Viewers hear nothing: no audio arrives' },
  'frequent-reconnects': { tone: 'bad', text: 'Viewers see interruptions: the connection keeps dropping' },
  'bitrate-collapsed': { tone: 'bad', text: 'Viewers may see pauses: the bitrate has collapsed' },
  'bitrate-low': { tone: 'warning', text: 'Viewers may see pauses: the connection is too slow' },
  'frame-rate-collapsed': { tone: 'warning', text: 'The picture stutters: the frame rate has collapsed' },
  'audio-video-drift': { tone: 'warning', text: 'Audio and video are out of sync' },
  'keyframes-too-far-apart': {
    tone: 'warning',
    text: 'New viewers wait for the picture: keyframes are too far apart',
  },
  'timestamps-jumping': { tone: 'warning', text: 'Playback may skip: the timestamps jump' },
};

export function broadcastVerdict({
  state,
  stats,
  alarms,
  isPulled = false,
  connecting,
}: JudgedBroadcast): BroadcastVerdict {
  if (state === 'off' && connecting !== undefined) {
    const missing = connecting.waitingFor === 'media' ? 'media' : 'a keyframe';
    return { tone: 'neutral', text: `Connected, waiting for ${missing}.` };
  }
  if (state === 'off') {
    const starter = isPulled ? 'its source sends media' : 'your encoder starts';
    return { tone: 'neutral', text: `Offline. It goes live when ${starter}.` };
  }
  if (state === 'stopping') {
    return { tone: 'neutral', text: 'The encoder stopped. The broadcast ends in a few seconds.' };
  }
  if (state === 'waiting') {
    return {
      tone: 'bad',
      text: `${isPulled ? 'Source' : 'Encoder'} disconnected. Waiting up to a minute for it to reconnect.`,
    };
  }
  if (alarms.length > 0) return alarmVerdict(alarms);
  if (stats === undefined) return { tone: 'neutral', text: 'Live. The first measurements arrive soon.' };
  return hasPacketLoss(stats)
    ? { tone: 'warning', text: 'Viewers may see glitches: packets are lost on the way to the server.' }
    : { tone: 'good', text: healthyText(stats) };
}

function alarmVerdict(alarms: JudgedBroadcast['alarms']): BroadcastVerdict {
  const worst = Object.keys(alarmVerdicts).find(kind => alarms.some(({ alarm }) => alarm === kind));
  const [first] = alarms;
  const verdict = worst === undefined ? undefined : alarmVerdicts[worst];
  const { tone, text } = verdict ?? { tone: 'warning', text: first!.message.replace(/\.$/, '') };
  const others = alarms.length - 1;
  if (others === 0) return { tone, text: `${text}.` };
  return { tone, text: `${text} (and ${others} more ${others === 1 ? 'problem' : 'problems'}).` };
}

function hasPacketLoss({ transport }: BroadcastStats): boolean {
  if (transport === undefined) return false;
  const { packetsReceived, packetsLost, packetsRecovered } = transport;
  const lost = packetsLost - packetsRecovered;
  const sent = packetsReceived + lost;
  return sent >= minPackets && lost / sent > maxLostShare;
}

function healthyText({ width, height, audioCodec }: BroadcastStats): string {
  if (width === undefined || height === undefined) return 'Healthy: viewers hear steady audio.';
  const verdict = `Healthy: viewers see a steady picture at ${Math.min(width, height)}p`;
  return audioCodec === undefined ? `${verdict}, without audio.` : `${verdict}.`;
}
