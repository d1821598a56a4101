import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { chromiumArguments, findChromium } from '../support/chromium.ts';
import { waitTimeoutMs } from '../support/deadlines.ts';
import { type Publisher, publishTestPicture, type TestPictureOptions } from '../support/ffmpeg.ts';
import { findInPlayer, playerAlone } from '../support/player-page.ts';
import { waitUntil } from '../support/wait-until.ts';
import { fakeMediaArguments } from '../support/whip-page.ts';

const found = findChromium();
if (found.path === undefined) process.stderr.write(`Browser tests are skipped: ${found.reason}.\n`);

/** Device pixels of a CSS pixel. Fewer pixels are less to draw, which is most of a page's work without a graphics card; the layout is the same. */
export const deviceScaleFactor = 0.5;

/** The files of a worker share it, one after the other. It ends with the worker. */
let shared: Browser | undefined;

/** Tests with a Chromium; skipped where there is none. `browser` may be called inside tests. Its contexts are closed at the end. */
export function describeInBrowser(name: string, define: (browser: () => Browser) => void): void {
  describe.skipIf(found.path === undefined)(name, () => {
    beforeAll(async () => {
      if (shared?.isConnected()) return;
      shared = await chromium.launch({
        executablePath: found.path!,
        // Lets all builds play with audio at once; some do so by default.
        args: [
          ...chromiumArguments,
          ...fakeMediaArguments,
          '--autoplay-policy=no-user-gesture-required',
          // Without a GPU, its process only passes on what is drawn.
          '--in-process-gpu',
          '--auto-select-desktop-capture-source=Entire screen',
          `--force-device-scale-factor=${deviceScaleFactor}`,
        ],
      });
    });
    afterAll(async () => {
      await Promise.all(shared?.contexts().map(context => context.close()) ?? []);
    });
    define(() => shared!);
  });
}

/** Frames a second of {@link publishPicture}: a third of what is usual, since each one is work for a page that shows it. */
export const pictureFps = 10;

export function publishPicture(options: TestPictureOptions): Publisher {
  return publishTestPicture({ fps: pictureFps, ...options });
}

/** Keeps what screen readers are told of the element from now on, for `spokenSince`. */
export async function watchSpoken(page: Page, element: string, attribute: string): Promise<void> {
  await page.evaluate(`(() => {
    const element = ${element};
    window.spokenOfTest = new Set();
    new MutationObserver(() => spokenOfTest.add(element.getAttribute('${attribute}'))).observe(element, {
      attributeFilter: ['${attribute}'],
    });
  })()`);
}

export function spokenSince(page: Page): Promise<string[]> {
  return page.evaluate<string[]>('[...spokenOfTest]');
}

/** A machine that runs all tests at once may make a player wait now and then; a player that keeps waiting is broken. */
export const mostStalls = 2;

/** Waits for something to come true of a page. @throws Error that names `what` at the deadline */
export function until(what: string, condition: () => Promise<boolean> | boolean): Promise<boolean> {
  return waitUntil(condition, { what });
}

/** State that a video element reports. Times in seconds. */
export interface VideoState {
  readonly time: number;
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  /** Sound decoded since the element was made. */
  readonly soundBytes: number;
  readonly isPaused: boolean;
  readonly isMuted: boolean;
  readonly volume: number;
  /** Number of stalls while it played. */
  readonly stalls: number;
  /** Address that it plays. */
  readonly source: string;
}

/**
 * Runs in the page before its own scripts. A seek makes a video wait too; that is no stall. `inPlayer` finds the first element of a
 * selector, also in shadow roots, as Playwright does.
 */
export const playerScript = `
  window.stallsOfTest = 0;
  const observe = root => root.addEventListener('waiting', event => {
    if (event.target.localName !== 'video') return;
    if (!event.target.seeking && event.target.currentTime > 0) window.stallsOfTest += 1;
  }, true);
  observe(document);
  // Events of media stay in their shadow root.
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (...options) {
    const root = attachShadow.apply(this, options);
    observe(root);
    return root;
  };
  window.inPlayer = ${findInPlayer};
  window.focusedInPlayer = () => {
    let { activeElement } = document;
    while (activeElement?.shadowRoot?.activeElement) ({ activeElement } = activeElement.shadowRoot);
    return activeElement;
  };
`;

const readVideo = `(() => {
  const video = inPlayer('video');
  return {
    time: video.currentTime,
    frames: video.getVideoPlaybackQuality().totalVideoFrames,
    width: video.videoWidth,
    height: video.videoHeight,
    soundBytes: video.webkitAudioDecodedByteCount,
    isPaused: video.paused,
    isMuted: video.muted,
    volume: video.volume,
    stalls: window.stallsOfTest,
    source: video.currentSrc,
  };
})()`;

/** Elements of the player that are shown and stand out of the window, of the controls or of the menu. What scrolls may. */
const findOverflow = `(() => {
  const inside = (box, frame) =>
    box.left > frame.left - 1 && box.right < frame.right + 1 && box.top > frame.top - 1 && box.bottom < frame.bottom + 1;
  const found = [];
  const look = (element, frame) => {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.matches('svg, .poster, .mark, [slot=tooltip-content]')) return;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && !inside(box, frame)) found.push(element.id || element.className || element.tagName);
    if (element.matches('.menu, dialog')) {
      if (element.scrollWidth > element.clientWidth) found.push((element.id || element.className) + ' scrolls sideways');
      return;
    }
    const own = element.matches('.row, .card') ? box : frame;
    for (const child of element.children) look(child, own);
  };
  if (document.documentElement.scrollWidth > innerWidth) found.push('page');
  look(inPlayer('.player, main'), { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  return found;
})()`;

/** True for errors and warnings, except of a preload that a busy machine was slow to use. */
export function isComplaint(message: ConsoleMessage): boolean {
  return (
    ['error', 'warning'].includes(message.type()) &&
    !/preloaded using link preload but not used within/.test(message.text())
  );
}

/** A page with a video, watched for everything that a page must not do. `await using` closes it. */
export class WatchedPage {
  readonly page: Page;
  /** Errors and warnings of its console, uncaught errors, and what its content policy refused. */
  readonly complaints: string[] = [];
  /** Every address that it asked for. */
  readonly requests: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('console', message => {
      if (isComplaint(message)) this.complaints.push(message.text());
    });
    page.on('pageerror', error => this.complaints.push(String(error)));
    page.on('request', request => this.requests.push(request.url()));
  }

  /** A page in a profile of its own: nothing is remembered from another. */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 720 },
      deviceScaleFactor,
      ...options,
    });
    context.setDefaultTimeout(waitTimeoutMs);
    await context.addInitScript(playerScript);
    const watched = new WatchedPage(await context.newPage());
    await watched.page.goto(url);
    return watched;
  }

  /** The page of a live stream or video, without anything around the player. */
  static openPlayer(
    browser: Browser,
    address: string,
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    return WatchedPage.open(browser, playerAlone(address), options);
  }

  /** A page on the site of `url` that is empty but for a video, with hls.js as others have it. */
  static async openBare(browser: Browser, url: string): Promise<WatchedPage> {
    const watched = await WatchedPage.open(browser, 'about:blank');
    const { page } = watched;
    await page.route('**/bare.html', route =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><video muted></video>' }),
    );
    await page.goto(new URL('/bare.html', url).href);
    await page.evaluate(
      readFileSync(createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js'), 'utf8'),
    );
    return watched;
  }

  /** Phase that the player page shows: `waiting`, `starting`, `live`, `reconnecting`, `ended`, … */
  phase(): Promise<string | null> {
    return this.page.getAttribute('#player', 'data-phase');
  }

  untilPhase(phase: string): Promise<unknown> {
    return this.page.waitForSelector(`#player[data-phase="${phase}"]`);
  }

  video(): Promise<VideoState> {
    return this.page.evaluate(readVideo);
  }

  /** Seconds between the broadcast and what is shown. */
  async latencySeconds(): Promise<number> {
    return (await this.page.evaluate<number | undefined>('window.millrace.latencySeconds()')) ?? Number.NaN;
  }

  /** Waits until pictures move: this many seconds of them from now on. Gives the state of the video then. */
  async untilPlayed(seconds: number): Promise<VideoState> {
    let before = await this.video();
    let beforeMs = performance.now();
    let last = before;
    let played = 0;
    await waitUntil(
      async () => {
        last = await this.video();
        const nowMs = performance.now();
        const moved = last.time - before.time;
        // A jump (to the live edge, or by a new source) is no playing. On a busy machine, seconds pass between two looks.
        const maxMoved = 1.5 + (nowMs - beforeMs) / 1000;
        if (moved > 0 && moved < maxMoved && last.frames !== before.frames) played += moved;
        before = last;
        beforeMs = nowMs;
        return played >= seconds;
      },
      {
        timeoutMs: seconds * 1000 + waitTimeoutMs,
        everyMs: 100,
        what: () => `${seconds} s of moving pictures; it played ${played} s: ${JSON.stringify(last)}`,
      },
    );
    return last;
  }

  /** Waits until all of the player is inside the window: the controls slide in. */
  async untilFits(): Promise<void> {
    let outside: string[] = [];
    await waitUntil(
      async () => {
        outside = await this.page.evaluate<string[]>(findOverflow);
        return outside.length === 0;
      },
      { what: () => `a player inside the window; outside: ${outside.join(', ')}`, everyMs: 50 },
    );
  }

  /** Points at a button of the controls: they stay for as long as the pointer rests there, and are hidden from who does nothing. */
  async pointAtControls(): Promise<void> {
    const button = this.page.locator('#mute');
    let moves = 0;
    // Hidden ones do not notice the pointer, which shows them.
    await waitUntil(
      async () => {
        const box = await button.boundingBox();
        if (box === null) return false;
        moves += 1;
        const { x, y, width, height } = box;
        await this.page.mouse.move(x + width / 2, y + height / 2 - (moves % 2));
        return button.evaluate(element => element.matches(':hover'));
      },
      { what: 'the pointer on a button', everyMs: 50 },
    );
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
