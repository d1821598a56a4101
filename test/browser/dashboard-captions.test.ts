import { openAsBlob } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

const header = 'WEBVTT\n\nSTYLE\n::cue { color: yellow }\n';
const captions = `${header}
00:00:00.500 --> 00:00:02.000 line:0
Bonjour tout le monde

00:00:03.000 --> 00:00:04.000
Au revoir
`;

describeInBrowser('the caption editor of the dashboard', browser => {
  let server: TestServer;
  let videoId: string;
  let dashboard: DashboardPage;
  let page: Page;
  beforeAll(async () => {
    server = await startDashboard({ 'encode.preset': 'ultrafast' }, { hasImages: false });
    ({ videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' }));
    await send('source', 'film.mp4', await openAsBlob(await fixture('h264-aac')));
    await send('captions/fr', 'fr.vtt', new Blob([captions]));
    dashboard = await DashboardPage.open(browser(), server, `/dashboard/videos/${videoId}?part=captions`);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
  });

  const send = async (path: string, name: string, content: Blob) => {
    const body = new FormData();
    body.set('file', content, name);
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const url = `${server.baseUrl}/videos/${videoId}/${path}`;
    expect((await fetch(url, { method: 'POST', headers, body })).ok, path).toBe(true);
  };
  const storedText = async () => {
    const answer = await server.api('GET', `/videos/${videoId}/captions/fr`);
    return (await fetch(((await answer.json()) as { src: string }).src)).text();
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const choose = async (cue: number, action: string) => {
    await button(`Actions for cue ${cue}`).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const playerSeconds = () =>
    page
      .frameLocator('iframe')
      .locator('video')
      .evaluate(video => (video as unknown as { currentTime: number }).currentTime);
  const open = async () => {
    await page.goto(`${server.baseUrl}/dashboard/videos/${videoId}/captions/fr`);
    await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
  };

  it('opens from the list of captions, and seeks to the cue that has the focus', async () => {
    await button('Actions for French captions').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByRole('heading', { name: 'Edit captions', level: 1 }).waitFor();
    await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await until('the second cue', async () => {
      await button('Go to cue 1').focus();
      await field('Text of cue 2').focus();
      return (
        (await page.locator('[aria-current=true] textarea').inputValue({ timeout: 5_000 })) === 'Au revoir'
      );
    });
    expect(await playerSeconds()).toBeCloseTo(3, 1);
  });

  it('checks, saves and keeps what it does not show', async () => {
    await open();
    const text = field('Text of cue 1');
    await text.fill('Bonjour & bienvenue');
    await field('End of cue 1').fill('0:00.2');
    await page.getByText('The cue must end after it starts.').waitFor();
    await button('Save').click();
    await until('the focus', () =>
      page.evaluate<boolean>(`document.activeElement.labels?.[0]?.textContent === 'End of cue 1'`),
    );
    await field('End of cue 1').fill('0:03.5');
    await page.getByText('Overlaps the cue above').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await field('End of cue 1').fill('0:02.5');
    await text.press('Control+Home');
    for (let at = 0; at < 'Bonjour'.length; at += 1) await text.press('ArrowRight');
    await choose(1, 'Split at cursor');
    await until('the split', async () => (await field('Text of cue 2').inputValue()) === '& bienvenue');
    await choose(3, 'Delete');
    await field('Text of cue 3').waitFor({ state: 'detached' });
    await button('Undo').click();
    await field('Text of cue 3').waitFor();
    await page.getByRole('link', { name: 'Pier' }).click();
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor();
    await button('Stay').click();
    await button('Save').click();
    await page.getByText('All changes saved.').waitFor();

    const saved = `${header}
00:00:00.500 --> 00:00:01.278 line:0
Bonjour

00:00:01.278 --> 00:00:02.500 line:0
&amp; bienvenue

00:00:03.000 --> 00:00:04.000
Au revoir
`;
    expect(await storedText()).toBe(saved);
    await open();
    expect(await field('Text of cue 2').inputValue()).toBe('& bienvenue');
    expect(dashboard.complaints).toEqual([]);
  });

  it('discards changes, and asks before it replaces newer captions', async () => {
    await send('captions/fr', 'fr.vtt', new Blob([captions]));
    await open();
    await button('Add cue at current time').click();
    await page.getByText('One cue has an error.').waitFor();
    await button('Discard').click();
    await page.getByText('One cue has an error.').waitFor({ state: 'detached' });
    expect(await page.getByText('All changes saved.').count()).toBe(0);
    await button('Shift all').click();
    await page.getByLabel('Offset in seconds').fill('-1');
    await page.keyboard.press('Enter');
    await page.getByText('A cue would start before 0:00.').waitFor();
    await page.getByLabel('Offset in seconds').fill('1.25');
    await page.keyboard.press('Enter');
    await page.getByText('Not saved yet.').waitFor();
    await send('captions/fr', 'fr.vtt', new Blob([`${captions}\n00:00:05.000 --> 00:00:06.000\nEncore\n`]));
    await button('Save').click();
    await page.getByRole('heading', { name: 'Replace newer captions?' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await button('Replace').click();
    await page.getByText('All changes saved.').waitFor();
    const text = await storedText();
    expect(text).toContain('00:00:01.750 --> 00:00:03.250 line:0\n');
    expect(text).not.toContain('Encore');
  });

  it('writes captions without a file, by the waveform and with the keyboard', async () => {
    await page.goto(`${server.baseUrl}/dashboard/videos/${videoId}?part=captions`);
    await button('Write captions').click();
    await field('Language').selectOption('de');
    await page.getByRole('dialog').getByRole('button', { name: 'Write captions' }).click();
    await page.getByRole('heading', { name: 'Write captions', level: 1 }).waitFor();
    await page.getByText('No cues yet').waitFor();
    // The film has a tone from its start to its end, beside what encoders add.
    const bars = page.locator('.cue-timeline-track path');
    await until('the waveform', async () => {
      const columns = ((await bars.getAttribute('d')) ?? '').split('M').slice(1);
      const loud = columns.filter(column => Number(column.split('V')[1]) > 1.1);
      return columns.length > 400 && loud.length > 0.9 * columns.length;
    });
    expect(await dashboard.violations()).toEqual([]);
    const position = page.getByRole('slider', { name: 'Position of the player' });
    await position.focus();
    await page.keyboard.press('ArrowRight');
    await until('a second', async () => (await position.getAttribute('aria-valuetext')) === '0:01');
    await page.keyboard.press('Alt+n');
    await page.keyboard.type('Guten Abend');
    await page.keyboard.press('Alt+l');
    await until('the next second', async () => (await playerSeconds()) === 2);
    await page.keyboard.press('Alt+o');
    expect(await field('End of cue 1').inputValue()).toBe('0:02');
    await page.keyboard.press('Control+z');
    expect(await field('End of cue 1').inputValue()).toBe('0:03');
    await page.keyboard.press('Control+y');
    const track = (await page.locator('.cue-timeline-track').boundingBox())!;
    const xOf = (seconds: number) => track.x + (track.width * seconds) / 6;
    await page.mouse.move(xOf(2), track.y + 20);
    await page.mouse.down();
    await page.mouse.move(xOf(4), track.y + 20, { steps: 4 });
    await page.mouse.up();
    expect(await field('End of cue 1').inputValue()).toMatch(/^0:0(4|3\.9|4\.0)/);
    await button('Undo').click();
    expect(await field('End of cue 1').inputValue()).toBe('0:02');
    await page.mouse.click(xOf(5), track.y + 20);
    await button('Use current time as end of cue 1').click();
    expect(Number((await field('End of cue 1').inputValue()).replace('0:0', ''))).toBeCloseTo(5, 0);
    await field('End of cue 1').fill('0:02.5');
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved.').waitFor();
    const answer = await server.api('GET', `/videos/${videoId}/captions/de`);
    expect(await (await fetch(((await answer.json()) as { src: string }).src)).text()).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nGuten Abend\n',
    );
    expect(dashboard.complaints).toEqual([]);
  });

  it('shows a long file in pages, and cues only, to those who may not change them', async () => {
    const cue = (_: unknown, at: number) =>
      `\n00:${String(at).padStart(2, '0')}.000 --> 00:${String(at).padStart(2, '0')}.900\nCue ${at}\n`;
    await send('captions/fr', 'fr.vtt', new Blob(['WEBVTT\n', ...Array.from({ length: 60 }, cue)]));
    await page.route('**/auth/session', async route => {
      const response = await route.fetch();
      const body = { ...((await response.json()) as object), role: 'viewer', scopes: ['read'] };
      await route.fulfill({ response, json: body });
    });
    await open();
    await page.getByRole('heading', { name: 'Captions', level: 1 }).waitFor();
    await page.getByText('Your role can’t change captions.').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.getByText('1 to 50 of 60 cues').waitFor();
    await button('Next').click();
    await page.getByText('Cue 59').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await dashboard.violations()).toEqual([]);
  });
});
