import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ffmpegPath } from '../support/ffmpeg.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the source of a live stream in the dashboard', browser => {
  let server: TestServer;
  let camera: Server;
  let isOn = false;

  beforeAll(async () => {
    server = await startDashboard({ allowPrivateTargets: 'true', 'live.stopGrace': '1s' });
    camera = createServer((_, answer) => {
      if (!isOn) {
        answer.writeHead(503).end();
        return;
      }
      const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25', '-c:v', 'libx264'];
      const child = spawn(ffmpegPath, [
        ...['-v', 'error', ...picture, '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'],
        ...['-f', 'mpegts', '-flush_packets', '1', '-'],
      ]);
      child.stdout.pipe(answer);
      answer.once('close', () => child.kill('SIGKILL'));
    });
    camera.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await server?.stop();
    camera?.close();
  });

  it('is set, tells why it is not live, goes live, is switched off and removed', async () => {
    const { liveStreamId } = await server.createStream('Harbour');
    const path = `/dashboard/live/${liveStreamId}?part=source`;
    await using dashboard = await DashboardPage.open(browser(), server, path);
    const { page } = dashboard;
    const state = page.getByRole('status', { name: 'State of the source' });
    const expectAccessible = async () => expect(await dashboard.violations()).toEqual([]);

    await page.getByLabel('Address').fill('file:///etc/passwd');
    await page.keyboard.press('Enter');
    await page.getByText(/The source must be an address that begins with/).waitFor();
    await page
      .getByLabel('Address')
      .fill(`http://127.0.0.1:${(camera.address() as AddressInfo).port}/cam.ts`);
    await page.getByRole('button', { name: 'Pull this source' }).click();
    await state.getByText('The source responded with HTTP status 503. Check the address.').waitFor();
    await expectAccessible();

    isOn = true;
    await state.getByText('Live', { exact: true }).waitFor();
    await page.locator('.page-title').getByText('Live', { exact: true }).waitFor();
    await expectAccessible();

    await page.getByRole('switch', { name: 'Pull the source' }).click();
    await state.getByText('Off', { exact: true }).waitFor();
    await page.locator('.page-title').getByText('Offline', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove source' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove source' }).click();
    await page.getByRole('button', { name: 'Pull this source' }).waitFor();
    await until('the source is removed', async () => {
      const answer = await server.api('GET', `/live-streams/${liveStreamId}`);
      return !('source' in ((await answer.json()) as object));
    });
    expect(dashboard.complaints.filter(text => !text.includes('400'))).toEqual([]);
  });

  it('is set when the live stream is created, and a wrong address is explained at its field only', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/live?new');
    const { page } = dashboard;
    const dialog = page.getByRole('dialog', { name: 'New live stream' });
    const address = dialog.getByLabel('Source address (optional)');
    await dialog.getByLabel('Name', { exact: true }).fill('Lighthouse');
    const more = dialog.getByText('Advanced');
    await more.click();
    await address.fill('file:///etc/passwd');
    // An error opens what hides it.
    await more.click();
    await dialog.getByLabel('Name', { exact: true }).press('Enter');
    const explanation = dialog.getByText(/The source must be an address that begins with/);
    await explanation.waitFor();
    await dialog.locator('input[aria-invalid=true]:focus').waitFor();
    const [text, footer] = await Promise.all(
      [explanation, dialog.locator('footer')].map(one => one.boundingBox()),
    );
    expect(text!.y + text!.height).toBeLessThanOrEqual(footer!.y);
    expect(await dialog.getByText('Invalid attributes.').count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);

    const url = `http://127.0.0.1:${(camera.address() as AddressInfo).port}/cam.ts`;
    await address.fill(url);
    await page.keyboard.press('Enter');
    await page.getByRole('status', { name: 'State of the source' }).waitFor();
    expect(await page.getByLabel('Address', { exact: true }).inputValue()).toBe(url);
    const liveStreamId = new URL(page.url()).pathname.split('/').at(-1);
    expect((await server.api('DELETE', `/live-streams/${liveStreamId}`)).status).toBe(204);
  });
});
