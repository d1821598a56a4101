import { copyFile, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Video, VideoStatus } from '../../src/web/dashboard/api/api-types.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import type { TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { createWatermark, DashboardPage, startDashboard, uploadFiles } from './dashboard-fixture.ts';

const fileBytes = 60_000_000;
const filmSeconds = 6;
/** Slow enough for a person to pause it: a chunk takes a good part of a second. */
const slowBytesPerSecond = 6_000_000;

describeInBrowser('videos in the dashboard', browser => {
  let server: TestServer;
  let folder: string;
  let film: string;
  let shortFilm: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    shortFilm = await makeFilm(folder);
    film = await makeLargeFilm(folder, shortFilm);
    server = await startDashboard({ 'encode.preset': 'ultrafast' }, { hasImages: false });
  });
  afterAll(async () => {
    await server.stop();
    await removeDir(folder);
  });

  const ask = async <Answer>(method: string, path: string, body?: unknown) =>
    (await (await server.api(method, path, body)).json()) as Answer;

  it('has one button, which leads to files and to the import, on a phone, too', async () => {
    const viewport = { width: 390, height: 844 };
    await using phone = await DashboardPage.open(browser(), server, '/dashboard/videos', { viewport });
    const { page } = phone;
    await page.getByRole('button', { name: 'Upload videos' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Choose files' }).waitFor();
    expect(await phone.violations()).toEqual([]);
    await dialog.getByRole('button', { name: 'Import from URL' }).click();
    await dialog.getByLabel('File URLs').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByRole('heading', { name: 'Trash' }).waitFor();
  });

  it('upload a large file, which is paused, gone on with after a reload, and played', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    const stored = watchStored(page);
    const setSpeed = await throttle(page);
    await page.getByText('No videos yet').waitFor();
    await startImport(page);
    await page.getByLabel('File URLs').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Escape');

    await setSpeed(slowBytesPerSecond);
    const making = await holdMaking(page);
    await uploadFiles(page, film);
    const panel = page.getByRole('region', { name: 'Uploads' });
    // Stopped and gone on with while the video is being made: it is not made twice.
    await making.asked;
    await panel.getByRole('button', { name: 'Pause Weir' }).click();
    await panel.getByRole('button', { name: 'Resume Weir' }).click();
    making.release();
    await panel.getByText(/MB\/s · .* left/).waitFor();
    await until('some chunks', () => stored.length >= 2);
    await panel.getByRole('button', { name: 'Pause Weir' }).click();
    await panel.getByText(/^Paused/).waitFor();
    // The server may know of no file yet.
    await page.getByRole('link', { name: 'Weir', exact: true }).click();
    const stage = page.getByRole('region', { name: 'Player' });
    await stage.getByText('Uploading', { exact: true }).waitFor();
    expect(await stage.getByRole('button', { name: 'Upload file' }).count()).toBe(0);
    await page.goBack();
    await setSpeed(-1);

    await page.reload();
    await panel.getByText(/^Interrupted/).waitFor();
    const another = join(folder, 'another.mp4');
    await writeFile(another, 'something else');
    await panel.getByLabel('The file Weir.mp4').setInputFiles(another);
    await panel.getByText('“another.mp4” (14 bytes) is a different file.').waitFor();
    expect(await dashboard.violations()).toEqual([]);

    await panel.getByLabel('The file Weir.mp4').setInputFiles(film);
    // The upload continues while another page is shown.
    await page.getByRole('link', { name: 'Analytics' }).click();
    // The whole file is sent and processed first.
    await panel.getByText(/^Ready to watch/).waitFor();
    await page.getByRole('link', { name: 'Videos', exact: true }).click();
    const row = rowOf(page, 'Weir');
    await row.getByText(`0:0${filmSeconds}`).waitFor();
    // Wider windows show it.
    await row.getByText('60 MB').waitFor({ state: 'attached' });
    await showsAllAboveUploads(page);

    // Every byte came, and none of them twice. A pause may come when a chunk is stored and its answer is under way: nobody hears that one.
    let next = 0;
    for (const { from, to } of stored.sort((one, other) => one.from - other.from)) {
      expect(from).toBeGreaterThanOrEqual(next);
      next = to + 1;
    }
    expect(next).toBe(fileBytes);
    const { data } = await ask<{ data: Video[] }>('GET', '/videos?title=Weir');
    expect(data).toHaveLength(1);
    const status = await ask<VideoStatus>('GET', `/videos/${data[0]?.videoId}/status`);
    expect(status.encoding.playable).toBe(true);
    expect(status.ingest?.filesize).toBe(fileBytes);
    await panel.getByRole('button', { name: 'Close uploads' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  it('refuses what cannot be video, tells how many are done, and repeats or cancels all at once', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    const panel = page.getByRole('region', { name: 'Uploads' });
    const buffer = await readFile(shortFilm);
    const note = (index: number) => ({
      name: `Note ${index}.pdf`,
      mimeType: 'application/pdf',
      buffer: Buffer.from('A note'),
    });
    const clip = (name: string) => ({ name: `${name}.mp4`, mimeType: 'video/mp4', buffer });

    await page.route('**/videos', route => route.fulfill({ status: 500, json: {} }));
    const notes = Array.from({ length: 298 }, (_, index) => note(index));
    await uploadFiles(page, [...notes, clip('Lock'), clip('Sluice')]);
    await panel.getByText('300 failed').waitFor();
    await panel.getByText('This is a document, not a video.').nth(297).waitFor();
    expect(await panel.getByRole('button', { name: /^Try / }).count()).toBe(2);
    await page.unroute('**/videos');
    await panel.getByRole('button', { name: 'Retry 2 failed' }).click();
    await panel.getByText('2 done, 298 failed').waitFor();
    await panel.getByRole('button', { name: 'Close uploads' }).click();
    await panel.waitFor({ state: 'detached' });

    // Two are held up, and one is queued.
    const making = await holdMaking(page, 2);
    await uploadFiles(page, ['Weir 1', 'Weir 2', 'Weir 3'].map(clip));
    await making.asked;
    await panel.getByText('Uploading 3 files').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await panel.getByRole('button', { name: 'Cancel all' }).click();
    await panel.waitFor({ state: 'detached' });
    const removals: number[] = [];
    page.on('response', response => {
      if (response.request().method() === 'DELETE') removals.push(response.status());
    });
    making.release();
    await until('both are removed again', () => removals.length === 2);
    const { data: left } = await ask<{ data: Video[] }>('GET', '/videos');
    expect(left.filter(({ title }) => /^Weir \d/.test(title))).toEqual([]);

    // The panel folds when all is done, and while nobody is at it.
    await uploadFiles(page, [clip('Mill')]);
    await panel.getByText('1 file uploaded').waitFor();
    await panel.getByRole('button', { name: 'Show uploads' }).waitFor();
    expect(await panel.getByRole('listitem').count()).toBe(0);
    expect(dashboard.complaints.filter(text => !text.includes('status of 500'))).toEqual([]);
    // The page asks for pictures of what it lists, and would complain about those that are gone.
    await page.close();
    for (const { videoId } of (await ask<{ data: Video[] }>('GET', '/videos')).data)
      await server.api('DELETE', `/videos/${videoId}?permanently=true`);
  });

  it('are uploaded with options, and imported from a list', async () => {
    const watermarkId = await createWatermark(server);
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Upload videos' }).click();
    const dialog = page.getByRole('dialog');
    const upload = dialog.getByRole('button', { name: 'Upload video' });
    await dialog.getByText('Options').click();
    expect(await upload.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByLabel('Files to upload').setInputFiles(film);
    await dialog.getByRole('checkbox', { name: 'Private' }).check();
    await dialog.getByRole('checkbox', { name: 'Offer MP4 download' }).uncheck();
    await dialog.getByLabel('Tags', { exact: true }).fill('harbour');
    await dialog.getByLabel('Spoken language').selectOption('French');
    await dialog.getByLabel('Clip start').fill('0:04');
    await dialog.getByLabel('Clip end').fill('0:02');
    await dialog.getByText('The clip must end after its start.').waitFor();
    await dialog.getByLabel('Clip start').fill('0:01');
    await dialog.getByLabel('Clip end').fill('0:04');
    await dialog.getByLabel('Watermark', { exact: true }).selectOption(watermarkId);
    await dialog.getByRole('img', { name: /^Watermark, 288 by/ }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await upload.click();
    const panel = page.getByRole('region', { name: 'Uploads' });
    await panel.getByText(/^Ready to watch/).waitFor();
    const { data } = await ask<{ data: Video[] }>('GET', '/videos?tags[]=harbour');
    expect(data).toMatchObject([{ title: 'Weir', public: false, mp4Support: false, language: 'fr' }]);
    const { encoding } = await ask<VideoStatus>('GET', `/videos/${data[0]?.videoId}/status`);
    expect(encoding.metadata.duration).toBe(3);
    await panel.getByRole('button', { name: 'Close uploads' }).click();

    await startImport(page);
    await dialog.getByLabel('CSV file').setInputFiles({
      name: 'list.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'url,title,tags,language\nhttps://media.example/1.mp4,Ferry,sea;ship,en\nhttps://media.example/2.mp4,Lock,,xx\n',
      ),
    });
    await dialog.getByText('Options').click();
    await dialog.getByRole('checkbox', { name: 'Private' }).check();
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByRole('button', { name: 'Import 2 videos' }).click();
    // Failed entries stay in the list.
    await dialog.getByText(/^Lock: .*language/i).waitFor();
    const list = dialog.getByLabel('File URLs');
    expect(await list.inputValue()).toContain('https://media.example/2.mp4,Lock');
    expect(await list.inputValue()).not.toContain('Ferry');
    await list.fill((await list.inputValue()).replace('xx', 'en'));
    await dialog.getByRole('button', { name: 'Import video' }).click();
    await dialog.waitFor({ state: 'detached' });
    await rowOf(page, 'Lock').waitFor();
    const imported = await ask<{ data: Video[] }>('GET', '/videos?sortBy=title&sortOrder=asc&title=F');
    expect(imported.data).toMatchObject([
      { title: 'Ferry', tags: ['sea', 'ship'], language: 'en', public: false },
    ]);
    // Expects the error of the row that was refused. Read first, because the page may load a thumbnail of a video
    // that is deleted.
    expect(dashboard.complaints).toEqual([expect.stringContaining('status of 400')]);
    for (const { videoId } of (await ask<{ data: Video[] }>('GET', '/videos')).data)
      await server.api('DELETE', `/videos/${videoId}?permanently=true`);
  });

  it('are filtered, sorted and changed many at once, and failures are told', async () => {
    const videoIds: string[] = [];
    for (let number = 1; number <= 26; number += 1) {
      const title = `Tape ${String(number).padStart(2, '0')}`;
      const body = { title, public: number !== 1, tags: number <= 3 ? ['reel'] : [] };
      videoIds.push((await ask<Video>('POST', '/videos', body)).videoId);
    }
    for (const videoId of videoIds.slice(0, 2)) {
      const form = new FormData();
      form.set('file', new Blob(['no film']), 'film.mp4');
      const headers = {
        authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`,
      };
      await fetch(`${server.baseUrl}/videos/${videoId}/source`, { method: 'POST', headers, body: form });
    }
    await until('two failed videos', async () => {
      const { data } = await ask<{ data: Video[] }>('GET', '/videos?status=failed');
      return data.length === 2;
    });
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    const titles = () => page.locator('.media-title').allInnerTexts();
    const shown = (what: string, ...expected: string[]) =>
      until(what, async () => JSON.stringify(await titles()) === JSON.stringify(expected));
    const statuses = page.waitForRequest(request => request.url().includes('/videos/statuses?'));
    await page.reload();
    expect(new URL((await statuses).url()).searchParams.getAll('videoIds[]')).toHaveLength(24);

    // Filters and the order are in the address.
    await page.getByRole('button', { name: '2 failed' }).click();
    await shown('failed videos', 'Tape 02', 'Tape 01');
    await page.getByRole('button', { name: 'Visibility' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('radio', { name: 'Private' }).click();
    await shown('a private one', 'Tape 01');
    await page.reload();
    await shown('the same after a reload', 'Tape 01');
    expect(new URL(page.url()).search).toBe('?status=failed&visibility=private');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'Date' }).click();
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByLabel('To', { exact: true }).fill('2020-02-01');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('No video matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Show all videos' }).click();
    await page.getByRole('button', { name: 'Title', exact: true }).click();
    await until('the first page by title', async () => (await titles())[0] === 'Tape 01');
    const head = page.getByRole('columnheader', { name: 'Title' });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');

    // A range, then everything, of which one fails.
    await page.getByRole('checkbox', { name: 'Select Tape 02' }).click();
    await page.getByRole('checkbox', { name: 'Select Tape 05' }).click({ modifiers: ['Shift'] });
    await page.getByText('4 videos selected').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Select all 26' }).click();
    await page.getByText('26 videos selected').waitFor();
    await page.route(`**/videos/${videoIds[6]}`, route =>
      route.fulfill({ status: 500, json: { type: 'https://docs.example/x', title: 'The disk is full.' } }),
    );
    await page.getByRole('button', { name: 'Change visibility' }).click();
    await page.getByRole('menuitem', { name: 'Make private' }).click();
    await dashboard.untilSaid('25 videos made private, 1 failed: The disk is full.');
    const { pagination } = await ask<{ pagination: { itemsTotal: number } }>('GET', '/videos?public=false');
    expect(pagination.itemsTotal).toBe(25);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();

    await page.getByRole('button', { name: '2 failed' }).click();
    await page.getByRole('button', { name: 'Retry all failed' }).click();
    await dashboard.untilSaid('2 videos retried.');
    await until('both failed again', async () => {
      const { data } = await ask<{ data: Video[] }>('GET', '/videos?status=failed');
      return data.length === 2;
    });
    await page.reload();
    await page.getByRole('button', { name: 'Remove all failed' }).click();
    await dashboard.untilSaid('2 videos moved to trash.');
    await page.getByText('No video matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await dashboard.untilSaid('2 videos restored.');
    await rowOf(page, 'Tape 02').waitFor();

    // The grid is remembered.
    await page.getByRole('button', { name: 'Grid' }).click();
    await page.goto(`${server.baseUrl}/dashboard/videos?tags=reel`);
    await page.locator('.video-card').nth(2).waitFor();
    expect(await page.locator('.video-card').count()).toBe(3);
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'List' }).click();
    await rowOf(page, 'Tape 03').waitFor();
    expect(dashboard.complaints).toEqual([expect.stringContaining('status of 500')]);
    for (const videoId of videoIds) await server.api('DELETE', `/videos/${videoId}?permanently=true`);
  });

  it('are searched, tagged, deleted with a way back, restored from the trash, or deleted permanently by name', async () => {
    const make = async (title: string, tags: string[] = []) =>
      (await ask<Video>('POST', '/videos', { title, tags })).videoId;
    const [harbour, mill] = [await make('Harbour at dawn', ['sea']), await make('Mill wheel')];
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    await rowOf(page, 'Mill wheel').getByText('No file yet').waitFor();

    await page.getByLabel('Search titles').fill('HARBOUR');
    await rowOf(page, 'Mill wheel').waitFor({ state: 'detached' });
    expect(await rowOf(page, 'Harbour at dawn').count()).toBe(1);
    await page.getByLabel('Search titles').fill('nothing of the kind');
    await page.getByRole('button', { name: 'Show all videos' }).click();

    await page.getByRole('checkbox', { name: 'Select Mill wheel' }).check();
    await page.getByRole('checkbox', { name: 'Select Harbour at dawn' }).check();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit 2 videos' });
    await dialog.getByLabel('Add tags', { exact: true }).pressSequentially('water, sea,');
    await dialog.getByLabel('Visibility').selectOption('Private');
    await dialog.getByLabel('Spoken language').selectOption('English');
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'Mill wheel').getByText('water').waitFor();
    expect(await ask<Video>('GET', `/videos/${harbour}`)).toMatchObject({
      tags: ['sea', 'water'],
      public: false,
      language: 'en',
      mp4Support: true,
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByLabel('Remove tag').selectOption('sea');
    await dialog.getByLabel('Visibility').selectOption('Public');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await ask<Video>('GET', `/videos/${harbour}`)).toMatchObject({ tags: ['water'], public: true });
    expect(await ask<Video>('GET', `/videos/${mill}`)).toMatchObject({ tags: ['water'], language: 'en' });
    await ask('PATCH', `/videos/${harbour}`, { tags: ['sea', 'water'] });
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByRole('button', { name: 'Tags' }).click();
    await page.getByRole('checkbox', { name: 'sea' }).check();
    await rowOf(page, 'Mill wheel').waitFor({ state: 'detached' });
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove filter sea' }).click();
    await rowOf(page, 'Mill wheel').waitFor();

    // Opens the video with the keyboard, whose focus returns on the way back.
    await page.getByRole('button', { name: 'Actions for Harbour at dawn' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const toasts = page.locator('.toasts');
    await toasts.getByText('“Harbour at dawn” moved to trash.').waitFor();
    await rowOf(page, 'Harbour at dawn').waitFor({ state: 'detached' });
    expect(await dashboard.violations()).toEqual([]);
    await page.locator('.toasts button:focus', { hasText: 'Undo' }).waitFor();
    await page.keyboard.press('Enter');
    await rowOf(page, 'Harbour at dawn').waitFor();
    await dashboard.untilSaid('“Harbour at dawn” restored.');

    await page.clock.install();
    await page.getByRole('checkbox', { name: 'Select Mill wheel' }).check();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByRole('button', { name: 'Move to trash' }).click();
    const all = await toasts.getByText(/^\d+ videos moved to trash\.$/).textContent();
    await page.getByText('No videos yet').waitFor();
    // The message stays as long as the pointer is on it.
    await toasts.getByText(all!).hover();
    await page.clock.fastForward(60_000);
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf(page, 'Mill wheel').waitFor();
    const restored = toasts.getByText(all!.replace('moved to trash', 'restored'));
    await restored.waitFor();
    await page.mouse.move(0, 0);
    await until('an end of the message', async () => {
      await page.clock.fastForward(10_000);
      return (await restored.count()) === 0;
    });

    for (const title of ['Harbour at dawn', 'Mill wheel']) {
      await page.getByRole('button', { name: `Actions for ${title}` }).click();
      await page.getByRole('menuitem', { name: 'Move to trash' }).click();
      await rowOf(page, title).waitFor({ state: 'detached' });
    }
    await page.getByRole('link', { name: 'Trash' }).click();
    const { deletesAt } = await ask<Video>('GET', `/discarded/videos/${mill}`);
    await page.locator(`time[datetime="${deletesAt}"]`).first().waitFor();
    expect(Date.parse(deletesAt!) - Date.now()).toBeLessThanOrEqual(7 * 86_400_000);
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Restore: Harbour at dawn' }).click();
    await page.getByText('“Harbour at dawn” restored.').last().waitFor();
    expect((await server.api('GET', `/videos/${harbour}`)).status).toBe(200);

    await page.getByRole('button', { name: 'Delete permanently: Mill wheel' }).click();
    await page.getByLabel('Type “Mill wheel” to confirm').fill('Mill wheel');
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('When you delete a video, you can restore it here.').waitFor();
    expect((await server.api('GET', `/discarded/videos/${mill}`)).status).toBe(404);

    // Turns the trash off, so that deleting asks first.
    await page.route('**/account', async route => {
      const response = await route.fetch();
      const { limits, ...json } = (await response.json()) as { limits: Record<string, unknown> };
      await route.fulfill({
        response,
        json: { ...json, limits: { ...limits, videoRestoreDays: undefined } },
      });
    });
    await page.reload();
    await page.getByText('Trash is turned off').waitFor();
    await page.getByRole('link', { name: 'Videos' }).last().click();
    await page.getByRole('button', { name: 'Actions for Harbour at dawn' }).click();
    await page.getByRole('menuitem', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Delete “Harbour at dawn” permanently?' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});

/**
 * Checks that nothing at the end of the page is behind the uploads, on a phone neither, and that messages stand
 * above them.
 */
async function showsAllAboveUploads(page: Page): Promise<void> {
  const edges = (selector: string) =>
    page
      .locator(selector)
      .last()
      .evaluate(element => element.getBoundingClientRect().toJSON() as { top: number; bottom: number });
  const before = page.viewportSize()!;
  for (const size of [before, { width: 390, height: 600 }]) {
    await page.setViewportSize(size);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const uploads = await edges('.uploads');
    expect((await edges('.media-table tbody tr')).bottom).toBeLessThanOrEqual(uploads.top);
    expect((await edges('.pagination')).bottom).toBeLessThanOrEqual(uploads.top);
    expect(uploads.bottom).toBeLessThanOrEqual(size.height);
    await page.getByRole('button', { name: 'Actions for Weir' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    await page.locator('.toast').first().waitFor();
    // A message rises to its place.
    await until('the message stands above', async () => {
      return (await edges('.toast')).bottom <= (await edges('.uploads')).top;
    });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
  await page.setViewportSize(before);
}

async function startImport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Upload videos' }).click();
  await page.getByRole('button', { name: 'Import from URL' }).click();
}

function rowOf(page: Page, title: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: title, exact: true }) });
}

/** Keeps the first videos from being made until they are released. */
async function holdMaking(
  page: Page,
  times = 1,
): Promise<{ readonly asked: Promise<void>; release(): void }> {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  };
  // Lists of videos are asked for with a query.
  await page.route('**/videos', hold, { times });
  return { asked: asked.promise, release: released.resolve };
}

/** Ranges of bytes that the server has taken. */
function watchStored(page: Page): { from: number; to: number }[] {
  const stored: { from: number; to: number }[] = [];
  page.on('response', response => {
    if (response.status() !== 201) return;
    const range = /^bytes (\d+)-(\d+)\//.exec(response.request().headers()['content-range'] ?? '');
    if (range !== null) stored.push({ from: Number(range[1]), to: Number(range[2]) });
  });
  return stored;
}

/** Sets how fast the page can send; -1 for as fast as it goes. */
async function throttle(page: Page): Promise<(bytesPerSecond: number) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  return async uploadThroughput => {
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
    await session.send('Network.emulateNetworkConditions', conditions);
  };
}

/** A film of some seconds with much room behind it, which a player passes over: a box `free`, by ISO/IEC 14496-12 8.1.2. */
async function makeLargeFilm(folder: string, film: string): Promise<string> {
  const path = join(folder, 'Weir.mp4');
  await copyFile(film, path);
  const filmBytes = (await readFile(path)).length;
  const box = Buffer.alloc(8);
  box.writeUInt32BE(fileBytes - filmBytes);
  box.write('free', 4);
  await using file = await open(path, 'r+');
  await file.write(box, 0, box.length, filmBytes);
  await file.truncate(fileBytes);
  return path;
}

async function makeFilm(folder: string): Promise<string> {
  const path = join(folder, 'Film.mp4');
  await runToEnd(ffmpegPath, [
    ...[
      '-loglevel',
      'error',
      '-nostdin',
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=320x180:rate=25:duration=${filmSeconds}`,
    ],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', path],
  ]);
  return path;
}
