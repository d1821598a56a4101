import { t } from '../../../texts/shell.ts';

const layouts: Readonly<Record<number, string>> = { 6: '5.1', 8: '7.1' };

export function channelLayout(channels: number): string {
  if (channels === 1) return t('channels.mono');
  if (channels === 2) return t('channels.stereo');
  return layouts[channels] ?? t('channels.count', { count: channels });
}
