import type { Browser, BrowserContextOptions } from 'playwright-core';
import { pageHeaders } from '../../src/delivery/pages/page-sender.ts';
import { waitUntil } from '../support/wait-until.ts';
import { WatchedPage } from './browser-fixture.ts';
import type { VideoSite } from './vod-fixture.ts';

/** Elements of the controls that are shown and stand out of the player. */
const findOutside = `(() => {
  const player = document.querySelector('millrace-player');
  const frame = player.getBoundingClientRect();
  const { shadowRoot } = player.shadowRoot.querySelector('millrace-controls');
  return [...shadowRoot.querySelectorAll('.row > *, #seek, #title, #big-play, #unmute, .action, .menu, .card, dialog')]
    .filter(element => element.checkVisibility({ visibilityProperty: true }))
    .filter(element => {
      const { left, right, top, bottom, width } = element.getBoundingClientRect();
      const isInside = left > frame.left - 1 && right < frame.right + 1 && top > frame.top - 1 && bottom < frame.bottom + 1;
      return width > 0 && !isInside;
    })
    .map(element => element.id || element.className);
})()`;

const stateOfMedia = `JSON.stringify(
  (({ phase, currentTime, paused, hasBegun, readyState, activeQuality }) => ({ phase, currentTime, paused, hasBegun, readyState, activeQuality }))(media))`;

const policy = pageHeaders[pageHeaders.indexOf('Content-Security-Policy') + 1]!;

/** A page with `<millrace-player>`, on the site of a video, under the content policy of player pages. */
export class ControlsPage {
  readonly viewer: WatchedPage;

  private constructor(viewer: WatchedPage) {
    this.viewer = viewer;
  }

  static async open(
    browser: Browser,
    site: VideoSite,
    attributes = '',
    options: BrowserContextOptions = {},
  ): Promise<ControlsPage> {
    const viewer = await WatchedPage.open(browser, 'about:blank', options);
    const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title>
      <script type="module" src="/player.js"></script>
      <body><main><h1>Page</h1><millrace-player src="${site.page()}" ${attributes}></millrace-player></main>`;
    await viewer.page.route('**/page.html', route =>
      route.fulfill({ contentType: 'text/html', headers: { 'Content-Security-Policy': policy }, body }),
    );
    const page = new ControlsPage(viewer);
    await viewer.page.goto(`${site.origin}/page.html`);
    return page;
  }

  get page(): WatchedPage['page'] {
    return this.viewer.page;
  }

  /** Evaluates an expression of `media`, `player` and `controls`. */
  read<Value>(expression: string): Promise<Value> {
    return this.page.evaluate<Value>(`(() => {
      const player = document.querySelector('millrace-player');
      const { media } = player;
      const controls = player.shadowRoot.querySelector('millrace-controls').shadowRoot;
      return (${expression});
    })()`);
  }

  async untilPhase(phase: string): Promise<void> {
    await this.page.waitForSelector(`#player[data-phase="${phase}"]`);
  }

  /** Plays, and pauses at a position. */
  async pauseAt(seconds: number): Promise<void> {
    await this.untilPhase('ready');
    await this.read(`void media.play()`);
    await this.until('a frame', 'media.hasBegun && media.currentTime > 0');
    await this.read(`(media.pause(), media.currentTime = ${seconds})`);
    await this.until('the position', `Math.abs(media.currentTime - ${seconds}) < 0.1 && !media.seeking`);
  }

  async until(what: string, expression: string): Promise<void> {
    let state = '';
    const isTrue = async () => {
      state = await this.read<string>(stateOfMedia);
      return await this.read<boolean>(expression);
    };
    await waitUntil(isTrue, { what: () => `${what}: ${state}` });
  }

  async untilFits(): Promise<void> {
    let outside: string[] = [];
    await waitUntil(
      async () => {
        outside = await this.page.evaluate<string[]>(findOutside);
        return outside.length === 0;
      },
      { what: () => `controls inside the player; outside: ${outside.join(', ')}` },
    );
  }

  close(): Promise<void> {
    return this.viewer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
