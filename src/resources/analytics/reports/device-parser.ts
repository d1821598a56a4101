import { LRUCache } from 'lru-cache';
import { UAParser } from 'ua-parser-js';
import { maxEntries } from '../../../shared/lru-limit.ts';

export const deviceTypes = ['computer', 'phone', 'tablet', 'tv', 'console', 'wearable', 'unknown'] as const;

/** Names are in lower case, `unknown` if missing. */
interface Device {
  readonly deviceType: (typeof deviceTypes)[number];
  readonly operatingSystem: string;
  readonly browser: string;
}

const maxUserAgentLength = 500;

const deviceTypeByParserType: Readonly<Record<string, Device['deviceType']>> = {
  mobile: 'phone',
  tablet: 'tablet',
  smarttv: 'tv',
  console: 'console',
  wearable: 'wearable',
};
const linuxDistributions = [
  'ubuntu',
  'debian',
  'fedora',
  'arch',
  'centos',
  'red hat',
  'gentoo',
  'mint',
  'suse',
  'gnu',
];
const desktopSystems = ['windows', 'mac osx', 'linux', 'chrome os', 'freebsd', 'openbsd', 'netbsd'];

export class DeviceParser {
  readonly #cache = new LRUCache<string, Device>(maxEntries(5_000));

  parse(userAgent: string): Device {
    const text = userAgent.slice(0, maxUserAgentLength);
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const device = deviceOf(text);
    this.#cache.set(text, device);
    return device;
  }
}

function deviceOf(userAgent: string): Device {
  const { browser, os, device } = new UAParser(userAgent).getResult();
  const operatingSystem = normalizeSystem(os.name);
  const type = deviceTypeByParserType[device.type ?? ''];
  return {
    deviceType: type ?? (desktopSystems.includes(operatingSystem) ? 'computer' : 'unknown'),
    operatingSystem,
    browser: normalizeBrowser(browser.name),
  };
}

function normalizeSystem(name: string | undefined): string {
  const lower = name?.toLowerCase() ?? 'unknown';
  if (lower === 'mac os') return 'mac osx';
  if (lower === 'chromium os') return 'chrome os';
  return linuxDistributions.includes(lower) ? 'linux' : lower.slice(0, 40);
}

function normalizeBrowser(name: string | undefined): string {
  const lower = name?.toLowerCase() ?? 'unknown';
  if (lower === 'chrome headless' || lower === 'chrome webview') return 'chrome';
  return lower.replace(/^mobile /, '').slice(0, 40);
}
