import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

interface Shown {
  readonly broadcasting: boolean;
  readonly restreams: readonly object[];
}

describeInBrowser('restreams in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard({ allowPrivateTargets: 'true', 'live.stopGrace': '1s' });
  });
  afterAll(() => server.stop());

  const shown = async (liveStreamId: string) =>
    (await (await server.api('GET', `/live-streams/${liveStreamId}`)).json()) as Shown;
  const change = (liveStreamId: string, body: unknown) =>
    server.api('PATCH', `/live-streams/${liveStreamId}`, body);

  it('are added, switched, changed and removed during a broadcast', async () => {
    const [stream, one, other] = await Promise.all(['Harbour', 'One', 'Other'].map(server.createStream));
    const serverUrl = `rtmp://localhost:${server.app.rtmpPort}/s`;
    await using publisher = publishPicture({ url: server.rtmpUrl(stream!.streamKey), gopSeconds: 1 });
    const path = `/dashboard/live/${stream!.liveStreamId}?part=restreams`;
    await using dashboard = await DashboardPage.open(browser(), server, path);
    const { page } = dashboard;
    const dialog = page.getByRole('dialog');
    const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name });
    const isLive = (name: string) => rowOf(name).getByText('Live', { exact: true }).waitFor();
    const expectAccessible = async () => {
      // Nothing is half covered by the bar at the top then.
      await page.evaluate('scrollTo(0, 0)');
      expect(await dashboard.violations()).toEqual([]);
    };
    const open = async (name: string, action: string) => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    await page.locator('.page-title').getByText('Live', { exact: true }).waitFor();
    await page.getByText('Stream to other platforms').waitFor();
    await page.getByRole('button', { name: 'Add destination' }).click();
    await dialog.getByLabel('Name').fill('Mirror');
    await dialog.getByLabel('Server').fill(serverUrl);
    await dialog.getByLabel('Stream key').fill(one!.streamKey);
    await page.keyboard.press('Enter');
    await isLive('Mirror');
    await rowOf('Mirror')
      .getByRole('cell', { name: /\d [kM]bit\/s$/ })
      .waitFor();
    await until('One is live', async () => (await shown(one!.liveStreamId)).broadcasting);
    await expectAccessible();

    const onOff = page.getByRole('switch', { name: 'Send to Mirror' });
    await onOff.focus();
    await page.keyboard.press('Space');
    await dialog.getByText('“Mirror” is live now. Its viewers will no longer get your stream.').waitFor();
    await expectAccessible();
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await rowOf('Mirror').getByText('Off', { exact: true }).waitFor();
    expect(await onOff.getAttribute('aria-checked')).toBe('false');
    const mirror = { name: 'Mirror', serverUrl, streamKey: one!.streamKey };
    expect((await shown(stream!.liveStreamId)).restreams).toEqual([{ ...mirror, enabled: false }]);
    await until('One has ended', async () => !(await shown(one!.liveStreamId)).broadcasting);
    await expectAccessible();
    await onOff.click();
    await isLive('Mirror');

    await open('Mirror', 'Edit');
    await dialog.getByLabel('Stream key').fill(other!.streamKey);
    await dialog.getByText('“Mirror” is live. Saving interrupts it until it reconnects.').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await until('Other is live', async () => (await shown(other!.liveStreamId)).broadcasting);
    await isLive('Mirror');

    // Somebody else adds one, removes it while it is edited here, and does so again.
    const changed = { ...mirror, streamKey: other!.streamKey, enabled: true };
    const backup = { name: 'Backup', serverUrl: 'rtmp://backup.example.net/app', streamKey: 'k' };
    await change(stream!.liveStreamId, { restreams: [changed, { ...backup, enabled: false }] });
    await rowOf('Backup').getByText('Off', { exact: true }).waitFor();
    await open('Backup', 'Edit');
    await dialog.getByLabel('Name').fill('Spare');
    await change(stream!.liveStreamId, { restreams: [changed] });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Someone else changed this destination\./).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await rowOf('Backup').waitFor({ state: 'detached' });
    expect((await shown(stream!.liveStreamId)).restreams).toEqual([changed]);
    await change(stream!.liveStreamId, { restreams: [changed, backup] });
    await rowOf('Backup').getByText('Retrying', { exact: true }).waitFor();
    await change(stream!.liveStreamId, { restreams: [changed] });
    await rowOf('Backup').waitFor({ state: 'detached' });

    await open('Mirror', 'Remove');
    await dialog.getByRole('button', { name: 'Remove destination' }).click();
    await page.getByText('Stream to other platforms').waitFor();
    expect((await shown(stream!.liveStreamId)).restreams).toEqual([]);
    await until('Other has ended', async () => !(await shown(other!.liveStreamId)).broadcasting);
    expect((await shown(stream!.liveStreamId)).broadcasting).toBe(true);
    expect(dashboard.complaints).toEqual([]);
    await publisher.stop();
  });

  it('get one of the renditions that the live stream is encoded to', async () => {
    const { liveStreamId } = await server.createStream('Quay');
    const mirror = { name: 'Mirror', serverUrl: 'rtmp://mirror.example.net/app', streamKey: 'abcd' };
    await change(liveStreamId, { qualities: 'ladder', restreams: [mirror] });
    const path = `/dashboard/live/${liveStreamId}?part=restreams`;
    await using dashboard = await DashboardPage.open(browser(), server, path, {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    });
    const { page } = dashboard;
    const edit = async () => {
      await page.getByRole('button', { name: 'Actions for Mirror' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
    };
    await page.getByText('Not live', { exact: true }).waitFor();
    await edit();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Rendition').selectOption('720p');
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Rendition: 720p').waitFor();
    expect((await shown(liveStreamId)).restreams).toEqual([{ ...mirror, rendition: '720p' }]);

    await change(liveStreamId, { qualities: 'passthrough' });
    await page.reload();
    await edit();
    await dialog.getByText(/^This live stream isn’t encoded to this rendition\./).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByLabel('Rendition').selectOption('source');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Rendition: 720p').waitFor({ state: 'detached' });
    expect((await shown(liveStreamId)).restreams).toEqual([{ ...mirror, rendition: 'source' }]);
    expect(dashboard.complaints).toEqual([]);
  });
});
