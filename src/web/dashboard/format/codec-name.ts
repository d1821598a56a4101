const names: readonly (readonly [prefix: string, name: string])[] = [
  ['h264', 'H.264'],
  ['avc', 'H.264'],
  ['hevc', 'HEVC'],
  ['hvc', 'HEVC'],
  ['hev', 'HEVC'],
  ['av1', 'AV1'],
  ['av01', 'AV1'],
  ['vp8', 'VP8'],
  ['vp08', 'VP8'],
  ['vp9', 'VP9'],
  ['vp09', 'VP9'],
  ['mpeg2video', 'MPEG-2'],
  ['mpeg4', 'MPEG-4'],
  ['prores', 'ProRes'],
  ['mp4a.40.34', 'MP3'],
  ['mp4a.6b', 'MP3'],
  ['mp4a', 'AAC'],
  ['aac', 'AAC'],
  ['mp3', 'MP3'],
  ['opus', 'Opus'],
  ['eac3', 'E-AC-3'],
  ['ac3', 'AC-3'],
  ['flac', 'FLAC'],
];

export function codecName(codec: string): string {
  const folded = codec.toLowerCase();
  return names.find(([prefix]) => folded.startsWith(prefix))?.[1] ?? codec;
}
