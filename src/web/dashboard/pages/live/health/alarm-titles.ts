const titles: Readonly<Record<string, string>> = {
  'keyframes-too-far-apart': 'Keyframes are too far apart',
  'bitrate-collapsed': 'The bitrate has collapsed',
  'bitrate-low': 'The bitrate is too low',
  'frame-rate-collapsed': 'The frame rate has collapsed',
  'audio-missing': 'No audio',
  'video-missing': 'No video',
  'timestamps-jumping': 'Timestamps jump',
  'audio-video-drift': 'Audio and video drift apart',
  'frequent-reconnects': 'The encoder reconnects frequently',
};

export function alarmTitle(alarm: string): string {
  return titles[alarm] ?? alarm;
}
