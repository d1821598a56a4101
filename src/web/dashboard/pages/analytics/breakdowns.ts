import { locale } from '../../state/texts.ts';

export const breakdowns = [
  { dimension: 'country', title: 'Countries', head: 'Country' },
  { dimension: 'device-type', title: 'Devices', head: 'Device' },
  { dimension: 'browser', title: 'Browsers', head: 'Browser' },
  { dimension: 'operating-system', title: 'Operating systems', head: 'Operating system' },
  { dimension: 'referrer', title: 'Referrers', head: 'Referrer' },
  { dimension: 'viewer-id', title: 'Viewers of signed links', head: 'Viewer id' },
] as const;

export type Dimension = (typeof breakdowns)[number]['dimension'];

const devices: Readonly<Record<string, string>> = {
  computer: 'Computer',
  phone: 'Phone',
  tablet: 'Tablet',
  tv: 'Television',
  console: 'Game console',
  wearable: 'Watch or headset',
};
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
  if (dimension === 'referrer') return value === '' ? 'Direct or unknown' : formatReferrer(value);
  if (dimension === 'viewer-id') return value === '' ? 'Without an id' : value;
  if (value === '' || value === 'unknown') return 'Unknown';
  if (dimension === 'country') return formatCountry(value, language);
  if (dimension === 'device-type') return devices[value] ?? value;
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
