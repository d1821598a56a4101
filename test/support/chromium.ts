import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The browser that tests drive, or why there is none. Tests that skip print the reason. */
export type ChromiumLookup =
  | { readonly path: string }
  | { readonly path?: undefined; readonly reason: string };

/** The one without windows comes first: it starts half as many processes. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'Google Chrome',
  'Chromium',
];
const defaultPaths = [
  '/usr/bin',
  '/usr/local/bin',
  '/snap/bin',
  '/opt/google/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS',
  '/Applications/Chromium.app/Contents/MacOS',
];

/**
 * Finds an installed Chromium or Chrome: `MILLRACE_TEST_CHROMIUM` if set (then no other is looked for),
 * else one on PATH, else one in the usual places.
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ChromiumLookup {
  const set = env.MILLRACE_TEST_CHROMIUM;
  if (set !== undefined && set !== '') {
    return isExecutable(set)
      ? { path: set }
      : { reason: `MILLRACE_TEST_CHROMIUM names ${set}, which cannot be run` };
  }
  const folders = [...(env.PATH ?? '').split(delimiter).filter(folder => folder !== ''), ...defaultPaths];
  for (const folder of folders) {
    for (const name of names) {
      const path = join(folder, name);
      if (isExecutable(path)) return { path };
    }
  }
  return { reason: 'no Chromium or Chrome is installed; install one or set MILLRACE_TEST_CHROMIUM' };
}

/** The last list of features that are off is the one that counts, so those that Playwright turns off are here again. */
const featuresOfPlaywright = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'TcpPortRandomizationWin'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

/** Suggestions under the address bar are two pages more in each window; nobody sees them, and they keep the machine busy. */
const featuresOfAddressBar = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/**
 * Arguments that a headless Chromium in a test gets: no sandbox (root in containers has none), no GPU, nothing that looks for a
 * network of its own, and no pages of its own.
 */
export const chromiumArguments: readonly string[] = [
  `--disable-features=${[...featuresOfPlaywright, ...featuresOfAddressBar].join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
