import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../test/support/chromium.ts';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, makeStream, withServer } from './bench-context.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'dashboard';
const email = 'admin@localhost';
const password = 'a-password-for-benches';
/** Rare enough that asking is no work beside that of the page. */
const pollMs = 100;
const env = { MILLRACE_ADMIN_PASSWORD: password };

/** One visit of the dashboard; times since the browser's first request. */
interface Opening {
  /** The overview's heading is there, and what can be pressed does something. */
  readonly usableMs: number;
  /** Everything on it has come. */
  readonly completeMs: number;
  /** Compressed, without calls to the API. */
  readonly bytes: number;
  readonly files: number;
}

/** Notes when the page is usable and when it is complete; runs in the page before its own scripts. */
const observePage = `
  window.opening = {};
  new MutationObserver(() => {
    const { opening } = window;
    const now = performance.now();
    if (document.querySelector('.shell main h1') === null) return;
    // The next task comes when what was to be done at once is done.
    if (opening.usableMs === undefined) {
      opening.usableMs = now;
      setTimeout(() => { opening.usableMs = performance.now(); opening.isUsable = true; });
    }
    if (document.querySelector('.skeleton') === null) opening.completeMs ??= now;
  }).observe(document, { subtree: true, childList: true });
`;

const readOpening = `(() => {
  const loads = [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource').filter(entry => entry.name.includes('/dashboard/assets/')),
  ];
  const { usableMs, completeMs } = window.opening;
  return { usableMs, completeMs, bytes: loads.reduce((sum, { transferSize }) => sum + transferSize, 0), files: loads.length };
})()`;

/** Time until the dashboard is usable on a first visit, of a server that has just started and of one that runs. */
export const benchDashboard: Bench = async context => {
  const found = findChromium();
  if (found.path === undefined) throw new Error(`no browser to measure in: ${found.reason}`);
  const browser = await chromium.launch({ executablePath: found.path, args: [...chromiumArguments] });
  const [starts, openings] = context.isShort ? [2, 4] : [5, 20];
  const cold: Opening[] = [];
  const warm: Opening[] = [];
  try {
    for (let index = 0; index < starts; index += 1) {
      await withServer(context, env, async server => {
        if (index === 0) await makeStream(server);
        cold.push(await open(browser, server));
        if (index > 0) return;
        for (let again = 0; again < openings; again += 1) warm.push(await open(browser, server));
      });
    }
  } finally {
    await browser.close();
  }
  return [
    ...rowsOf('server just started', cold),
    ...rowsOf('not the first', warm),
    sizeRow(warm[0]!),
    filesRow(warm[0]!),
  ];
};

/** Opens the overview in a profile that has nothing of it yet. */
async function open(browser: Browser, server: ServerProcess): Promise<Opening> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  try {
    const signedIn = await context.request.post(`${server.baseUrl}/auth/session`, {
      data: { email, password },
    });
    if (!signedIn.ok()) throw new Error(`signing in was answered with ${signedIn.status()}`);
    await context.addInitScript(observePage);
    const page = await context.newPage();
    await page.goto(`${server.baseUrl}/dashboard`);
    while (
      !(await page.evaluate<boolean>('window.opening.isUsable && window.opening.completeMs !== undefined'))
    ) {
      await sleep(pollMs);
    }
    return await page.evaluate<Opening>(readOpening);
  } finally {
    await context.close();
  }
}

function rowsOf(which: string, openings: readonly Opening[]): Row[] {
  const usable = openings.map(({ usableMs }) => usableMs / 1000);
  const complete = openings.map(({ completeMs }) => completeMs / 1000);
  const count = openings.length;
  return [
    judge(name, {
      what: `${which}: usable, p50 of ${count}`,
      value: percentile(usable, 0.5),
      unit: 's',
      max: 1,
    }),
    judge(name, { what: `${which}: usable, longest`, value: Math.max(...usable), unit: 's' }),
    judge(name, { what: `${which}: everything is there, p50`, value: percentile(complete, 0.5), unit: 's' }),
  ];
}

function sizeRow({ bytes }: Opening): Row {
  return judge(name, { what: 'sent until then, compressed', value: bytes / 1000, unit: 'KB', max: 150 });
}

function filesRow({ files }: Opening): Row {
  return judge(name, { what: 'in so many files', value: files, unit: '' });
}
