import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';
import { expectAspectRatio } from './embed-measure.ts';

interface ShownStream {
  readonly liveStreamId: string;
  readonly name: string;
  readonly streamKey: string;
  readonly public: boolean;
  readonly record?: boolean;
  readonly restreams: readonly object[];
}

describeInBrowser('live streams in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server.stop());

  const streams = async () => {
    const { data } = (await (await server.api('GET', '/live-streams')).json()) as { data: ShownStream[] };
    return data;
  };

  it('makes one, which goes live by itself with its key, and ends it', async () => {
    await using dashboard = await openAt(browser(), server, '/dashboard/live');
    const { page } = dashboard;
    await page.getByText('Go live in three steps').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'New live stream' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Pier cam');
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Pier cam' }).waitFor();
    await page.getByText('Offline', { exact: true }).waitFor();
    const address = await page.getByLabel('Server', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'Copy stream key' }).click();
    await page.getByText('Stream key copied.').waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    expect((await streams()).map(({ streamKey }) => streamKey)).toEqual([key]);
    expect(await dashboard.violations()).toEqual([]);

    // An encoder that connects ticks the steps; one that was refused is told with the reason.
    const encoder = { protocol: 'rtmp', encoder: 'OBS' };
    const refused = { type: 'refused', ...encoder, address: '192.0.2.1', reason: 'no-keyframe', times: 3 };
    const happenedAt = new Date().toISOString();
    const entry = { happenedAt, ...refused, message: 'No keyframe arrived for 10 s.' };
    await page.route('**/ingest-log', route =>
      route.fulfill({ json: { connecting: { ...encoder, waitingFor: 'keyframe' }, data: [entry] } }),
    );
    await page.getByText('Connected, waiting for a keyframe.').waitFor();
    const steps = page.getByRole('list', { name: 'Steps to go live' });
    expect(await steps.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringContaining('OBS (RTMP) is connected'),
      expect.stringContaining('Media arrives'),
      expect.stringContaining('Connected, waiting for a keyframe'),
      'Live',
    ]);
    await page.getByText('OBS (RTMP) from 192.0.2.1 was refused').waitFor();
    await page.getByText(/^No keyframe arrived for 10 s\. \(3 times/).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.unroute('**/ingest-log');

    await using publisher = publishPicture({ url: `${address}/${key}`, size: '180x320' });
    await page.locator('.page-title').getByText('Live', { exact: true }).waitFor();
    // While live, it is health that matters.
    await page.locator('.tabs a[aria-current]', { hasText: 'Health' }).waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await dashboard.untilSaid('Link copied.');
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/\/live\/li\w+$/);
    const rates = page.getByRole('figure', { name: 'Bitrate, last 5 minutes' });
    await rates
      .getByRole('cell', { name: /\d kbit\/s$/ })
      .first()
      .waitFor();
    await page.getByRole('figure', { name: 'Viewers, last 5 minutes' }).waitFor();
    const preview = page.frameLocator('iframe[title="Preview of Pier cam"]').locator('video');
    await until('the preview plays', async () => {
      const seconds = await preview.evaluate(
        video => (video as unknown as { currentTime: number }).currentTime,
      );
      return seconds > 0.5;
    });
    expect(await dashboard.violations()).toEqual([]);

    // A page that is opened now shows what was before it, in the time of its viewer.
    await rates.getByRole('row').nth(12).waitFor();
    const playedSeconds = () =>
      preview.evaluate(video => (video as unknown as { currentTime: number }).currentTime);
    const beforeJump = await playedSeconds();
    await page.getByRole('button', { name: / connected/ }).click();
    await until('the preview goes back', async () => (await playedSeconds()) < beforeJump - 2);
    await using later = await openAt(browser(), server, `${new URL(page.url()).pathname}?part=health`, {
      timezoneId: 'Asia/Kolkata',
      locale: 'en-GB',
    });
    const remembered = later.page.getByRole('figure', { name: 'Bitrate, last 5 minutes' });
    await remembered.getByRole('row').nth(5).waitFor();
    const [hours = '', minutes] = (await remembered.getByRole('rowheader').last().innerText()).split(':');
    const shownMinutes = Number(hours) * 60 + Number(minutes);
    const now = new Date();
    const indian = now.getUTCHours() * 60 + now.getUTCMinutes() + 330;
    expect((indian - shownMinutes + 1_440) % 1_440).toBeLessThan(10);
    await later.page.getByText('1 hour').click();
    await later.page.getByRole('figure', { name: 'Bitrate, last 1 hour' }).waitFor();
    expect(await later.violations()).toEqual([]);

    // The list shows it first, and follows its end.
    await server.createStream('Another camera');
    await later.page.goto(`${server.baseUrl}/dashboard/live`);
    const first = later.page.getByRole('row').nth(1);
    await first.filter({ hasText: 'Pier cam' }).locator('.badge.live').waitFor();
    await first.locator('.cell-viewers', { hasText: /\d/ }).waitFor();
    expect(await later.violations()).toEqual([]);
    // The list shows those of its other pages, too.
    await later.page.route('**/live-streams?*', async route => {
      const answer = await route.fetch();
      const list = (await answer.json()) as { data: { name: string }[] };
      const data = list.data.filter(({ name }) => name !== 'Pier cam');
      await route.fulfill({ response: answer, json: { ...list, data } });
    });
    await later.page.reload();
    await later.page.getByRole('row').filter({ hasText: 'Another camera' }).waitFor();
    await first.filter({ hasText: 'Pier cam' }).locator('.badge.live').waitFor();
    await later.page.unroute('**/live-streams?*');

    await publisher.kill();
    await page.getByText('Encoder disconnected. Waiting up to a minute for it to reconnect.').waitFor();
    await page.getByRole('button', { name: /The connection of the encoder was lost/ }).focus();
    await page.locator('.timeline-readout', { hasText: 'The connection of the encoder was lost' }).waitFor();
    // Records that the stream is never shown as live again, not for a moment.
    const badge = '.page-title .badge';
    await page.evaluate(`window.shown = [];
      new MutationObserver(() => window.shown.push(document.querySelector('${badge}').textContent))
        .observe(document.querySelector('.page-title'), { childList: true, characterData: true, subtree: true });`);
    await page.getByRole('button', { name: 'End broadcast' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End broadcast' }).click();
    await page.getByText('Offline', { exact: true }).waitFor();
    expect(new Set(await page.evaluate<string[]>('window.shown'))).toEqual(new Set(['Offline']));
    const { liveStreamId } = (await streams()).find(({ name }) => name === 'Pier cam')!;
    const broadcasts = await server.api('GET', `/live-streams/${liveStreamId}/broadcasts`);
    const { data } = (await broadcasts.json()) as { data: { endedAt: string }[] };
    const lastLive = page.locator('.figures time');
    await until('the end', async () => (await lastLive.getAttribute('datetime')) === data[0]!.endedAt);
    await page.getByText(/^Last broadcast, ended/).waitFor();
    await rates.getByRole('row').nth(5).waitFor();
    await page.getByRole('link', { name: 'Recordings' }).click();
    await page.getByRole('cell', { name: 'Ended in the dashboard or over the API' }).waitFor();
    const row = later.page.getByRole('row').filter({ hasText: 'Pier cam' });
    await row.getByText('Offline').waitFor();
    await row.locator('.cell-broadcast time').waitFor();
    await later.page.getByRole('button', { name: 'Actions for Pier cam' }).click();
    await later.page.getByRole('menuitem', { name: 'Copy stream key' }).click();
    await later.untilSaid('Stream key copied.');
    await later.page.getByRole('button', { name: 'Actions for Pier cam' }).click();
    await later.page.getByRole('menuitem', { name: 'Recordings' }).click();
    await later.page.getByRole('button', { name: 'Pier cam' }).waitFor();
    await later.page.getByText('No video matches these filters.').waitFor();
    expect(later.complaints).toEqual([]);

    // The shape is that of the last broadcast.
    await page.getByRole('link', { name: 'Share' }).click();
    await page.getByText('Fixed: 360 × 640 pixels').waitFor({ state: 'attached' });
    for (const kind of ['responsive', 'fixed']) {
      await page.getByLabel('Player on your page').selectOption(kind);
      const code = await page.getByLabel('Embed code', { exact: true }).inputValue();
      await expectAspectRatio(browser(), code, 9 / 16);
    }
    expect(dashboard.complaints).toEqual([]);
  });

  it('replaces its key, sends it on, renames and hides it, and deletes it by name', async () => {
    const { liveStreamId, streamKey } = await server.createStream('Harbour');
    await using dashboard = await openAt(browser(), server, `/dashboard/live/${liveStreamId}`);
    const { page } = dashboard;
    const found = async () => (await streams()).find(stream => stream.liveStreamId === liveStreamId);

    await page.getByRole('button', { name: 'Regenerate key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Regenerate key' }).click();
    await dashboard.untilSaid('Stream key regenerated.');
    const shown = await page.getByLabel('Stream key', { exact: true }).inputValue();
    expect(shown).not.toBe(streamKey);
    expect((await found())?.streamKey).toBe(shown);

    await page.getByRole('link', { name: 'Restreams' }).click();
    await page.getByRole('button', { name: 'Add destination' }).click();
    await dialog.getByLabel('Name').fill('Mirror');
    await dialog.getByLabel('Server').fill('http://mirror.example.net');
    await dialog.getByLabel('Stream key').fill('abcd-1234');
    await page.keyboard.press('Enter');
    await dialog
      .getByText(/RTMP URL should have the following format/)
      .first()
      .waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByLabel('Server').fill('rtmp://mirror.example.net/app');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Mirror' }).first().waitFor();
    expect(await dashboard.violations()).toEqual([]);
    const restream = { name: 'Mirror', serverUrl: 'rtmp://mirror.example.net/app', streamKey: 'abcd-1234' };
    expect((await found())?.restreams).toEqual([restream]);

    const sections = page.getByRole('navigation', { name: 'Live stream sections' });
    await sections.getByRole('link', { name: 'Settings' }).click();
    // Somebody else's change, which this page does not show yet.
    await server.api('PATCH', `/live-streams/${liveStreamId}`, { viewerClips: true });
    await page.getByLabel('Name').fill('Harbour, north');
    await sections.getByRole('link', { name: 'Share' }).click();
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await page.getByLabel('Visibility').selectOption('private');
    await page.getByLabel('Recording', { exact: true }).selectOption('Never record');
    await page.getByLabel('Ultra low latency').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Harbour, north' }).waitFor();
    const changed = { name: 'Harbour, north', public: false, record: false, viewerClips: true };
    expect(await found()).toMatchObject(changed);
    expect(await dashboard.violations()).toEqual([]);
    // The player of a private stream has a link of its own.
    const preview = page.frameLocator('iframe[title="Preview of Harbour, north"]');
    await preview.getByText('Waiting for the stream').waitFor();
    await page.getByRole('link', { name: 'Recordings' }).click();
    await page.getByText(/^Recording is turned off for this live stream\./).waitFor();

    await page.getByRole('link', { name: 'Share' }).click();
    await page.getByText('This live stream is private.').waitFor();
    expect(await page.getByLabel('Embed code', { exact: true }).inputValue()).toContain(
      `/live/${liveStreamId}?token=`,
    );
    expect(await page.getByLabel('WHEP URL', { exact: true }).inputValue()).toContain(
      `/whep/${liveStreamId}?token=`,
    );
    expect(await dashboard.violations()).toEqual([]);

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete live stream' }).click();
    await dialog.getByLabel('Type “Harbour, north” to confirm').fill('Harbour, north');
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Live streams' }).waitFor();
    expect(await found()).toBeUndefined();
    // The address that was refused.
    expect(dashboard.complaints.splice(0)).toEqual([expect.stringContaining('400 (Bad Request)')]);

    const deleted = await server.createStream('Deleted elsewhere');
    const room = `${server.baseUrl}/dashboard/live/${deleted.liveStreamId}`;
    await page.goto(room);
    await page.getByRole('heading', { name: 'Deleted elsewhere' }).waitFor();
    expect((await server.api('DELETE', `/live-streams/${deleted.liveStreamId}`)).status).toBe(204);
    await page.getByText('Live stream not found').waitFor();
    await page.goto(`${room}/studio`);
    await page.getByText('Live stream not found').waitFor();
    expect(dashboard.complaints.filter(text => !text.includes('404 (Not Found)'))).toEqual([]);
  });

  it('names its audio tracks, orders them, and makes one the default', async () => {
    const { liveStreamId } = await server.createStream('Stadium');
    await using dashboard = await openAt(browser(), server, `/dashboard/live/${liveStreamId}?part=settings`);
    const { page } = dashboard;
    const stored = async () =>
      (
        (await (await server.api('GET', `/live-streams/${liveStreamId}`)).json()) as {
          audioTracks?: object[];
        }
      ).audioTracks;
    const add = async (name: string, language: string) => {
      await page.getByRole('button', { name: 'Add audio track' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Language').selectOption(language);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const choose = async (track: string, action: string) => {
      await page.getByRole('button', { name: `Actions for the audio track ${track}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await page.getByText('Names and languages of audio tracks come from your encoder.').waitFor();
    await add('', 'en');
    await add('Commentary', 'fr');
    await choose('Commentary', 'Play by default');
    await page.locator('.tracks > li', { hasText: 'Commentary' }).getByText('Default').waitFor();
    await choose('Commentary', 'Move up');
    await until('the order', async () => JSON.stringify(await stored()).includes('position'));
    expect(await stored()).toEqual([
      { language: 'en', position: 2 },
      { name: 'Commentary', language: 'fr', default: true, position: 1 },
    ]);
    await page.locator('.tracks > li').first().getByText('Commentary').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await choose('Commentary', 'Remove');
    await until('the removal', async () => (await stored())?.length === 1);
  });
});

/** A page of the dashboard that may use the clipboard. */
function openAt(
  browser: Browser,
  server: TestServer,
  path: string,
  options: BrowserContextOptions = {},
): Promise<DashboardPage> {
  const permissions = ['clipboard-read', 'clipboard-write'];
  return DashboardPage.open(browser, server, path, { permissions, ...options });
}
