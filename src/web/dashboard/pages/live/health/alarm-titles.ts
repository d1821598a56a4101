import { t } from '../../../texts/overview.ts';

const titles = {
  'keyframes-too-far-apart': 'alarm.keyframesTooFarApart',
  'bitrate-collapsed': 'alarm.bitrateCollapsed',
  'bitrate-low': 'alarm.bitrateLow',
  'frame-rate-collapsed': 'alarm.frameRateCollapsed',
  'audio-missing': 'alarm.audioMissing',
  'video-missing': 'alarm.videoMissing',
  'timestamps-jumping': 'alarm.timestampsJumping',
  'audio-video-drift': 'alarm.audioVideoDrift',
  'frequent-reconnects': 'alarm.frequentReconnects',
} as const;

export function alarmTitle(alarm: string): string {
  return Object.hasOwn(titles, alarm) ? t(titles[alarm as keyof typeof titles]) : alarm;
}
