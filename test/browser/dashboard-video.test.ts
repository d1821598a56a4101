import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';
import { expectAspectRatio } from './embed-measure.ts';

const captions = { name: 'fr.vtt', mimeType: 'text/vtt' };
const frenchCaptions = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nBonjour\n');

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Json = any;

describeInBrowser('the page of a video in the dashboard', browser => {
  let server: TestServer;
  let videoId: string;
  let dashboard: DashboardPage;
  let page: Page;
  beforeAll(async () => {
    server = await startDashboard({ 'encode.preset': 'ultrafast' });
    ({ videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' }));
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const sent = await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
      method: 'POST',
      headers,
      body: film,
    });
    expect(sent.status).toBe(201);
    dashboard = await DashboardPage.open(browser(), server);
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
  });

  const open = async (id = videoId, tab = '') => {
    await page.goto(`${server.baseUrl}/dashboard/videos/${id}${tab}`);
    await button('More actions').waitFor();
  };
  const openTab = (name: string) => page.getByRole('link', { name, exact: true }).click();
  const ask = async (path = ''): Promise<Json> =>
    (await server.api('GET', `/videos/${videoId}${path}`)).json();
  const said = (words: string) => dashboard.untilSaid(words);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });

  it('tells that details and metadata are being saved, and why they were not', async () => {
    for (const name of ['Edit details', 'Edit metadata']) {
      await open();
      await button(name).click();
      const answered = Promise.withResolvers<void>();
      await page.route(`**/videos/${videoId}`, async route => {
        if (route.request().method() !== 'PATCH') return await route.fallback();
        await answered.promise;
        await route.fulfill({ status: 409, json: { title: 'Not now.' } });
      });
      await button('Save').click();
      await page.locator('button[type=submit][aria-busy=true]').waitFor();
      answered.resolve();
      await page.getByRole('alert').getByText('Not now.').waitFor();
      await page.unroute(`**/videos/${videoId}`);
    }
    // A title is saved when its field is left, also for another page.
    await open();
    await page.route(`**/videos/${videoId}`, route =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { title: 'Not this title.' } })
        : route.fallback(),
    );
    await button('Edit title').click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Never saved');
    await page.getByRole('link', { name: 'Watermarks' }).click();
    await said('Not this title.');
    await page.unroute(`**/videos/${videoId}`);
    // The browser reports what was answered with 409.
    expect(dashboard.complaints.splice(0).filter(text => !text.includes('409'))).toEqual([]);
  });

  it('has tabs in the address, which anchors lead to and the back button leaves', async () => {
    await open(videoId, '#chapters');
    await page.getByRole('region', { name: 'Chapters' }).waitFor();
    expect(new URL(page.url()).search).toBe('?part=captions');
    await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
    await page.frameLocator('iframe').locator('body').evaluate('window.isSamePlayer = true');
    await page.getByRole('link', { name: 'Share', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Visibility').waitFor();
    await page.getByRole('link', { name: /^0 plays$/ }).click();
    await page.getByText('No plays in this period').first().waitFor();
    await page.getByText('24 hours').click();
    await until('the period', () => new URL(page.url()).search === '?part=analytics&range=24h');
    expect(await dashboard.violations()).toEqual([]);
    await page.goBack();
    await page.getByLabel('Visibility').waitFor();
    await page.goBack();
    await page.getByRole('region', { name: 'Chapters' }).waitFor();
    expect(await page.frameLocator('iframe').locator('body').evaluate('window.isSamePlayer')).toBe(true);
    await openTab('Details');
    await button('Edit details').click();
    await page.getByLabel('Description').fill('Not saved yet');
    await openTab('Share');
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor();
    await button('Stay').click();
    expect(await page.getByLabel('Description').inputValue()).toBe('Not saved yet');
    await page.getByLabel('Description').press('Escape');
    expect(await page.getByLabel('Description').inputValue()).toBe('Not saved yet');
    await button('Cancel').click();
    await button('Edit details').click();
    await page.getByLabel('Description').press('Escape');
    await button('Edit details').click();
    await server.api('PATCH', `/videos/${videoId}`, { description: 'Of somebody else' });
    await page.getByLabel('Expires on').fill('2999-01-01');
    await button('Save').click();
    await said('Details saved.');
    expect(await ask()).toMatchObject({ description: 'Of somebody else' });
    await server.api('PATCH', `/videos/${videoId}`, { description: '', expiresAt: null });
  });

  it('plays it, and saves what is written: title, tags, metadata', async () => {
    await open();
    await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
    await page.getByText('H.264', { exact: true }).waitFor();
    await page
      .locator('.status-line')
      .getByText(/^0:06 · \d+ × \d+ · .+ · .+ KB$/)
      .waitFor();
    expect(await dashboard.violations()).toEqual([]);

    await openTab('Share');
    const playerLink = page.getByRole('link', { name: 'Open player page' });
    expect(await playerLink.getAttribute('href')).toBe(`/vod/${videoId}`);
    const { width, height } = (await ask('/status')).encoding.metadata;
    const code = page.getByLabel('Embed code', { exact: true });
    const fluid = await expectAspectRatio(browser(), await code.inputValue(), width / height);
    expect([fluid.get('wide')!.width, fluid.get('narrow')!.width]).toEqual([1000, 300]);
    await page.getByLabel('Player on your page').selectOption('fixed');
    const fixed = await expectAspectRatio(browser(), await code.inputValue(), width / height);
    expect([fixed.get('wide')!.width, fixed.get('narrow')!.width]).toEqual([640, 300]);
    await page.getByLabel('Player on your page').selectOption('element');
    expect(await code.inputValue()).toMatch(
      /^<script type="module" src="(http:[^"]+)\/player\.js"><\/script><millrace-player src="\1\/vod\/vi\w+"><\/millrace-player>$/,
    );

    await openTab('Details');
    const title = page.getByRole('textbox', { name: 'Title' });
    await button('Edit title').click();
    await title.fill('Not this');
    await title.press('Escape');
    await page.getByRole('heading', { name: 'Pier', level: 1, exact: true }).waitFor();
    await button('Edit title').and(page.locator(':focus')).click();
    await title.fill('x'.repeat(1_025));
    await title.press('Enter');
    await page.locator('.title-editor .field-error').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await title.fill('Pier at dawn');
    await title.press('Enter');
    await page.getByRole('heading', { name: 'Pier at dawn', level: 1 }).waitFor();
    // The browser reports that the long title was answered with 400.
    expect(dashboard.complaints.splice(0).filter(text => !text.includes('400'))).toEqual([]);
    const field = page.getByLabel('Add tags');
    await field.pressSequentially('pier,');
    await button('Remove tag pier').waitFor();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'sea, pier,drone shot\\nfog');
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }`);
    await button('Remove tag fog').waitFor();
    await field.fill('sun');
    await page.keyboard.press('Enter');
    await button('Remove tag sun').waitFor();
    await page.keyboard.press('Backspace');
    await button('Remove tag sun').waitFor({ state: 'detached' });
    await field.pressSequentially(`${'x'.repeat(256)},`);
    await page.getByText('is longer than 255 characters.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await button('Remove tag fog').click();
    await until('the tags', async () => (await ask()).tags.length === 3);
    await button('Edit metadata').click();
    await page.keyboard.type('episode');
    await page.keyboard.press('Tab');
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await said('Metadata saved.');
    expect(await ask()).toMatchObject({
      title: 'Pier at dawn',
      tags: ['pier', 'sea', 'drone shot'],
      metadata: [{ key: 'episode', value: '12' }],
    });

    // A choice that is made while the one before is saved holds as well.
    await openTab('Share');
    const answered = Promise.withResolvers<void>();
    const hold = (route: Route) => answered.promise.then(() => route.continue());
    await page.route(`**/videos/${videoId}`, hold, { times: 1 });
    await page.getByLabel('360° video').check();
    await page.getByLabel('360° video').uncheck();
    answered.resolve();
    await said('No longer marked as 360°.');
    expect(await ask()).toMatchObject({ panoramic: false });
  });

  it('downloads the original, and plays what a policy closes to viewers', async () => {
    const playbackPolicy = { allowedCountries: ['DE'], allowNoReferrer: false };
    await server.api('PATCH', `/videos/${videoId}`, { playbackPolicy });
    try {
      await until(
        'the policy holds',
        async () => (await fetch(`${server.baseUrl}/vod/${videoId}`)).status === 403,
      );
      await open();
      await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
      const { filesize } = (await ask('/status')).ingest;
      const coming = page.waitForEvent('download');
      await button(/^Download original \(.+\)$/).click();
      const download = await coming;
      expect(download.suggestedFilename()).toMatch(/\.mp4$/);
      expect((await stat(await download.path())).size).toBe(filesize);
    } finally {
      await server.api('PATCH', `/videos/${videoId}`, { playbackPolicy: null });
    }
  });

  it('says why a video failed, and takes another file', async () => {
    const failed = await createVideo(server.baseUrl, server.productionKey, { title: 'Broken' });
    const form = new FormData();
    form.set('file', new Blob(['no film']), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const path = `/videos/${failed.videoId}/source`;
    expect((await fetch(server.baseUrl + path, { method: 'POST', headers, body: form })).status).toBe(201);
    const audio = await createVideo(server.baseUrl, server.productionKey, { title: 'Interview' });
    form.set('file', await openAsBlob(await fixture('audio-only')), 'interview.m4a');
    const audioPath = `/videos/${audio.videoId}/source`;
    expect((await fetch(server.baseUrl + audioPath, { method: 'POST', headers, body: form })).status).toBe(
      201,
    );
    await page.goto(`${server.baseUrl}/dashboard/videos?view=grid`);
    const card = page.getByRole('listitem').filter({ hasText: 'Broken' });
    await card.locator('.picture-placeholder').getByText('Failed', { exact: true }).waitFor();
    const placeholder = page
      .getByRole('listitem')
      .filter({ hasText: 'Interview' })
      .locator('.picture-placeholder');
    await placeholder.getByText('Audio only', { exact: true }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    const status: Json = await (await server.api('GET', `/videos/${failed.videoId}/status`)).json();
    await card.getByText(status.encoding.failure, { exact: true }).waitFor();
    await open(failed.videoId);
    await page.getByText('Processing failed', { exact: true }).waitFor();
    await page.getByText(status.encoding.failure, { exact: true }).waitFor();
    await page.getByText('None, because the video failed.', { exact: true }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await button('Try again').waitFor();
    await button('Upload another file').waitFor();
    const viewport = page.viewportSize();
    await page.setViewportSize({ width: 320, height: 740 });
    const stage = page.getByRole('region', { name: 'Player' });
    expect(await stage.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    expect(await stage.evaluate(({ clientWidth }) => clientWidth)).toBeLessThanOrEqual(320);
    if (viewport !== null) await page.setViewportSize(viewport);
    await page.getByLabel('Video file').setInputFiles(await fixture('h264-aac'));
    await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
  });

  it('shows another frame once it was picked with the keyboard', async () => {
    await open();
    const thumbnail = page.getByAltText('Current thumbnail');
    const before = await thumbnail.getAttribute('src');
    await button('Pick a frame').click();
    const slider = page.getByRole('slider', { name: 'Position in the video' });
    await slider.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.getByText('0:04.92 of 0:06').waitFor();
    await page.locator('video.is-exact').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await said('Frame chosen.');
    await until('the other picture', async () => (await thumbnail.getAttribute('src')) !== before);
    const image = await page.request.get(server.baseUrl + (await thumbnail.getAttribute('src'))!);
    expect(image.headers()['content-type']).toBe('image/jpeg');
  });

  it('takes captions, and writes chapters beside the player', async () => {
    await open(videoId, '?part=captions');
    await button('Upload captions').click();
    await page.getByLabel('Language', { exact: true }).selectOption('fr');
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ ...captions, buffer: Buffer.from('WEBVTT\n\nBonjour\n') });
    await page.locator('.field-error').getByText('The file has no times such as').waitFor();
    expect(await button('Upload').getAttribute('aria-disabled')).toBe('true');
    expect(await dashboard.violations()).toEqual([]);
    const shortTimes = Buffer.from(frenchCaptions.toString().replaceAll('.000', ''));
    await page.getByLabel('File', { exact: true }).setInputFiles({ ...captions, buffer: shortTimes });
    await page.getByText('1 caption found.').waitFor();
    await page.getByRole('dialog').getByText('Line 3: Times were rewritten').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await button('Upload').click();
    await page.getByRole('main').getByText('Line 3: Times were rewritten').waitFor();
    await button('Actions for French captions').click();
    await page.getByRole('menuitem', { name: 'Show by default' }).click();
    await page.getByRole('main').getByText('Default', { exact: true }).waitFor();
    expect((await ask('/captions')).data).toMatchObject([{ srclang: 'fr', default: true }]);

    await button('Write chapters').click();
    await button('Save').click();
    await page.getByText('Choose the language of the chapters.').waitFor();
    await page.getByText('Enter a title.').waitFor();
    await page.getByLabel('Language', { exact: true }).selectOption('en');
    const start = page.getByLabel('Start of chapter 2', { exact: true });
    await page.getByLabel('Title of chapter 1').fill('Opening & more');
    await button('Add chapter').click();
    await start.fill('1:00');
    await page.getByText('This is after the end of the video.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Enter a title.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('Title of chapter 2').fill('The end');
    await page.getByLabel('Title of chapter 2').press('Control+z');
    expect(await page.getByLabel('Title of chapter 2').inputValue()).toBe('');
    await page.getByLabel('Title of chapter 2').press('Control+Shift+Z');
    const film = page.frameLocator('iframe').locator('video');
    await film.evaluate(video => {
      (video as unknown as { currentTime: number }).currentTime = 4;
    });
    await button('Use current time as start of chapter 2').click();
    expect(await start.inputValue()).toBe('0:04');
    await start.press('Enter');
    const list = page.getByRole('list', { name: 'Chapters in English' });
    await list.getByText('Opening & more').waitFor();
    await list.getByRole('button', { name: 'Play from 0:00: Opening & more' }).click();
    await until('the first chapter', () =>
      film.evaluate(video => {
        const { currentTime, paused } = video as unknown as { currentTime: number; paused: boolean };
        return currentTime < 4 && !paused;
      }),
    );
    const [{ src }] = (await ask('/chapters')).data;
    expect(await (await fetch(src)).text()).toContain('00:00:04.000 --> 00:00:06.000\nThe end');

    const editChapters = async () => {
      await button('Actions for English chapters').click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
    };
    await editChapters();
    await page.getByLabel('Title of chapter 2').fill('The very end');
    const others = new FormData();
    others.set('file', new Blob(['WEBVTT\n\n00:00.000 --> 00:06.000\nOf somebody else\n']), 'en.vtt');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const address = `${server.baseUrl}/videos/${videoId}/chapters/en`;
    expect((await fetch(address, { method: 'POST', headers, body: others })).ok).toBe(true);
    await page.getByLabel('Title of chapter 2').press('Enter');
    await page.getByRole('heading', { name: 'Replace newer chapters?' }).waitFor();
    expect(await (await fetch(src)).text()).toContain('Of somebody else');
    await button('Replace').click();
    await list.getByText('The very end').waitFor();

    const loaded = Promise.withResolvers<void>();
    await page.route(`**${new URL(src).pathname}`, async route => {
      await loaded.promise;
      await route.fallback();
    });
    await open(videoId, '?part=captions');
    await button('Actions for English chapters').click();
    await page.getByRole('menuitem', { name: 'Replace file' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Edit' }).count()).toBe(0);
    loaded.resolve();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    expect(await page.getByLabel('Title of chapter 2').inputValue()).toBe('The very end');
    await page.unroute(`**${new URL(src).pathname}`);
  });

  it('makes it private, still plays it, and hands out links for others', async () => {
    await open(videoId, '?part=share');
    await page.getByLabel('Visibility').selectOption('private');
    await said('The video is private.');
    await page.frameLocator('iframe[src*="token="]').locator('#player[data-phase="ready"]').waitFor();
    const link = page.getByLabel('Link', { exact: true });
    await link.waitFor();
    const address = await link.inputValue();
    expect(await page.getByLabel('Embed code', { exact: true }).inputValue()).toContain(
      `<iframe src="${address}" title="Pier at dawn"`,
    );
    expect(await page.locator('iframe').getAttribute('src')).not.toContain(new URL(address).search);
    expect((await fetch(address)).status).toBe(200);
    await button('New links').click();
    await said('New links created. Earlier links still work.');
    await until('another link', async () => (await link.inputValue()) !== address);
    expect(await dashboard.violations()).toEqual([]);
  });

  it('fills an empty one, moves it to the trash, brings it back, and deletes it by name', async () => {
    const made = await createVideo(server.baseUrl, server.productionKey, { title: 'Quay' });
    const other = made.videoId;
    await open(other);
    await page.getByText('No file uploaded yet').waitFor();
    // A canceled upload that has sent nothing leaves the video, which was there before.
    await page.route(`**/videos/${other}/source`, route => route.abort());
    await page.getByLabel('Video file').setInputFiles(await fixture('h264-aac'));
    await page.getByText(/retrying soon$/).waitFor();
    await button('Cancel Quay').click();
    await button('Cancel Quay').waitFor({ state: 'detached' });
    await page.unroute(`**/videos/${other}/source`);
    await open(other);
    await page.getByText('No file uploaded yet').waitFor();
    expect(dashboard.complaints.splice(0).filter(text => !text.includes('ERR_FAILED'))).toEqual([]);
    await page.getByLabel('Video file').setInputFiles(await fixture('h264-aac'));
    await page.locator('iframe').waitFor();
    await button('More actions').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await said('“Quay” moved to trash.');
    await page.locator('.toasts button:focus', { hasText: 'Undo' }).waitFor();
    expect((await server.api('GET', `/videos/${other}`)).status).toBe(404);

    await page.getByRole('heading', { name: 'Videos', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('This video is in the trash').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await button('Restore').click();
    await page.getByRole('heading', { name: 'Quay' }).waitFor();
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'Delete permanently' }).click();
    await page.getByLabel('Type “Quay” to confirm').fill('Quay');
    expect(await dashboard.violations()).toEqual([]);
    await button('Delete permanently').click();
    await said('“Quay” deleted permanently.');
    expect((await server.api('GET', `/discarded/videos/${other}`)).status).toBe(404);
    await page.getByRole('heading', { name: 'Videos', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('Video not found').waitFor();
    // A browser tells of every answer that is an error; of these the page asked for.
    expect(dashboard.complaints.filter(text => !text.includes('status of 404'))).toEqual([]);
  });
});
