const layouts: Readonly<Record<number, string>> = { 1: 'Mono', 2: 'Stereo', 6: '5.1', 8: '7.1' };

export function channelLayout(channels: number): string {
  return layouts[channels] ?? `${channels} channels`;
}
