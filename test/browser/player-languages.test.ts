import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OtherSite } from '../support/other-site.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

/** Lists what the player with a language says and shows, also inside of other shadow roots. */
const wordsOf = (lang: string) => `(() => {
  const words = new Set();
  const add = text => { if (text?.trim()) words.add(text.trim()); };
  const walk = node => {
    for (const element of node.querySelectorAll('*')) {
      if (['STYLE', 'SCRIPT', 'svg', 'TITLE'].includes(element.tagName)) continue;
      for (const name of ['aria-label', 'title', 'aria-valuetext', 'placeholder', 'alt']) add(element.getAttribute(name));
      for (const child of element.childNodes) if (child.nodeType === 3) add(child.data);
      if (element.shadowRoot) walk(element.shadowRoot);
    }
  };
  walk(document.querySelector('millrace-player[lang="${lang}"]').shadowRoot);
  return [...words].sort();
})()`;

/** Words of the English texts of controls, ours and those of media-chrome. */
const english =
  /\b(?:play|pause|mute|unmute|volume|fullscreen|picture|settings|quality|live|share|seek|time|captions?|behind|enter|exit|position|controls|clip|video|loading|media|link|copy)\b/i;

describeInBrowser('the languages of the player', browser => {
  let server: TestServer;
  let site: OtherSite;
  beforeAll(async () => {
    server = await startServer();
    site = await OtherSite.start();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await server.stop();
  });

  it('are those that two players on one page ask for, in everything that they say', async () => {
    const stream = await server.createStream('川');
    const player = (lang: string) =>
      `<millrace-player muted lang="${lang}" style="width: 600px" src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>`;
    const html = `<script type="module" src="${server.baseUrl}/player.js"></script><body>${player('ja')}${player('ar')}`;
    await using viewer = await WatchedPage.open(browser(), site.addPage(html));
    const { page } = viewer;
    await until('both to wait', async () =>
      (await page.evaluate<string[]>(wordsOf('ar'))).includes('في انتظار البث'),
    );
    expect(await page.evaluate<string[]>(wordsOf('ja'))).toContain('配信の開始を待っています');
    const directionOf = (selector: string) =>
      page.locator(`millrace-player[lang="ar"] ${selector}`).getAttribute('dir');
    expect([await directionOf('#stage'), await directionOf('#controls')]).toEqual(['rtl', 'ltr']);
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    for (const lang of ['ja', 'ar']) await untilLive(page, lang);
    for (const [lang, copyLink] of [
      ['ja', 'リンクをコピー'],
      ['ar', 'نسخ الرابط'],
    ] as const) {
      const shown = page.locator(`millrace-player[lang="${lang}"]`);
      await shown.hover();
      await shown.locator('#share').click();
      const said = () => page.evaluate<string[]>(wordsOf(lang));
      await until(`the share sheet in ${lang}`, async () => (await said()).includes(copyLink));
      expect((await said()).filter(word => english.test(word) && !word.includes('<iframe'))).toEqual([]);
      await page.keyboard.press('Escape');
    }
    expect(viewer.complaints).toEqual([]);
  });
});

function untilLive(page: Page, lang: string): Promise<unknown> {
  return until(`the player in ${lang} to play`, () =>
    page.evaluate<boolean>(`document.querySelector('millrace-player[lang="${lang}"]').currentTime > 0`),
  );
}
