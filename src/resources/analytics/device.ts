import { UAParser } from 'ua-parser-js';

/** Kinds of devices that are told apart. */
export const deviceTypes = ['computer', 'phone', 'tablet', 'tv', 'console', 'wearable', 'unknown'] as const;

/** What a viewer watches with, as its user agent says. Names are in lower case, `unknown` where it does not say. */
export interface Device {
  readonly deviceType: (typeof deviceTypes)[number];
  readonly operatingSystem: string;
  readonly browser: string;
}

const userAgentAtMost = 500;
const keptAtMost = 5_000;

const typesByParser: Readonly<Record<string, Device['deviceType']>> = {
  mobile: 'phone',
  tablet: 'tablet',
  smarttv: 'tv',
  console: 'console',
  wearable: 'wearable',
};
const linuxes = ['ubuntu', 'debian', 'fedora', 'arch', 'centos', 'red hat', 'gentoo', 'mint', 'suse', 'gnu'];
const ofComputers = ['windows', 'mac osx', 'linux', 'chrome os', 'freebsd', 'openbsd', 'netbsd'];

/** Tells devices by their user agents, and remembers the ones that it was asked for last. */
export class Devices {
  readonly #known = new Map<string, Device>();

  /** The device of a `User-Agent`. */
  of(userAgent: string): Device {
    const text = userAgent.slice(0, userAgentAtMost);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const device = deviceOf(text);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < keptAtMost) break;
      this.#known.delete(oldest);
    }
    this.#known.set(text, device);
    return device;
  }
}

function deviceOf(userAgent: string): Device {
  const { browser, os, device } = new UAParser(userAgent).getResult();
  const operatingSystem = systemOf(os.name);
  const type = typesByParser[device.type ?? ''];
  return {
    deviceType: type ?? (ofComputers.includes(operatingSystem) ? 'computer' : 'unknown'),
    operatingSystem,
    browser: browserOf(browser.name),
  };
}

function systemOf(name: string | undefined): string {
  const lower = name?.toLowerCase() ?? 'unknown';
  if (lower === 'mac os') return 'mac osx';
  if (lower === 'chromium os') return 'chrome os';
  return linuxes.includes(lower) ? 'linux' : lower.slice(0, 40);
}

function browserOf(name: string | undefined): string {
  const lower = name?.toLowerCase() ?? 'unknown';
  if (lower === 'chrome headless' || lower === 'chrome webview') return 'chrome';
  return lower.replace(/^mobile /, '').slice(0, 40);
}
