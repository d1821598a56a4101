import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';

export const breakdowns = [
  'country',
  'device-type',
  'browser',
  'operating-system',
  'referrer',
  'viewer-id',
] as const;

export type Dimension = (typeof breakdowns)[number];

const devices = ['computer', 'phone', 'tablet', 'tv', 'console', 'wearable'] as const;
const properNames: Readonly<Record<string, string>> = {
  'mac osx': 'macOS',
  ios: 'iOS',
  ipados: 'iPadOS',
  tvos: 'tvOS',
  watchos: 'watchOS',
  webos: 'webOS',
  'chrome os': 'ChromeOS',
  freebsd: 'FreeBSD',
  openbsd: 'OpenBSD',
  netbsd: 'NetBSD',
  harmonyos: 'HarmonyOS',
  duckduckgo: 'DuckDuckGo',
  ie: 'Internet Explorer',
  'uc browser': 'UC Browser',
};

export function formatDimensionValue(dimension: Dimension, value: string, language = locale()): string {
  if (dimension === 'referrer') return value === '' ? t('breakdowns.direct') : formatReferrer(value);
  if (dimension === 'viewer-id') return value === '' ? t('breakdowns.noId') : value;
  if (value === '' || value === 'unknown') return t('breakdowns.unknown');
  if (dimension === 'country') return formatCountry(value, language);
  if (dimension === 'device-type') {
    const device = devices.find(one => one === value);
    return device === undefined ? value : t(`breakdowns.device.${device}`);
  }
  return properNames[value] ?? value.replace(/(^|\s)\S/g, letter => letter.toUpperCase());
}

function formatCountry(code: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}

function formatReferrer(address: string): string {
  return (
    address
      .replace(/^https?:\/\//i, '')
      .replace(/^www\./i, '')
      .replace(/\/$/, '') || address
  );
}
