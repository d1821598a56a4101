import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the studio', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard({ 'live.stopGrace': '500ms' });
  });
  afterAll(() => server.stop());

  const status = (page: Page) => page.locator('.studio-state');
  const protocolOf = async (liveStreamId: string) => {
    const { data } = (await (await server.api('GET', `/live-streams/${liveStreamId}/broadcasts`)).json()) as {
      data: { protocol: string; state: string }[];
    };
    return data[0];
  };

  it('leads from the first steps to a stream that viewers can play, and ends it', async () => {
    await using dashboard = await DashboardPage.open(browser(), server);
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Create live stream' }).click();
    // The studio turns on the camera.
    await page.getByRole('link', { name: 'Go live from this browser' }).click();
    await page.getByRole('button', { name: 'Devices' }).click();
    await page.getByLabel('Quality').selectOption('480p');
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Go live', exact: true }).click();
    await status(page).getByText('You’re live').waitFor();
    const [, liveStreamId = ''] = /live\/(li\w+)\/studio/.exec(page.url()) ?? [];
    await until('viewers can play it', async () => {
      const response = await fetch(`${server.baseUrl}/${liveStreamId}.m3u8`);
      return response.ok && (await response.text()).includes('avc1');
    });
    expect(await protocolOf(liveStreamId)).toMatchObject({ protocol: 'whip' });
    await page.locator('.studio-connection', { hasText: /Good|Fair|Poor/ }).waitFor();
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByRole('button', { name: 'Unmute' }).waitFor();
    await page.getByRole('button', { name: 'Hide video' }).click();
    await page.getByText('Your video is off. Viewers see black.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Show video' }).click();

    // The screen is this page's own drawing, all blue. The camera is drawn over its lower right corner.
    await page.evaluate(`navigator.mediaDevices.getDisplayMedia = async () => {
      const canvas = document.createElement('canvas');
      canvas.width = 640;
      canvas.height = 360;
      const context = canvas.getContext('2d');
      const paint = () => {
        context.fillStyle = 'rgb(0 0 255)';
        context.fillRect(0, 0, 640, 360);
      };
      paint();
      setInterval(paint, 100);
      return canvas.captureStream(10);
    }`);
    const colors = () =>
      page.evaluate<number[][]>(`(() => {
        const video = document.querySelector('.studio-preview video');
        const canvas = document.createElement('canvas');
        canvas.width = 640;
        canvas.height = 360;
        const context = canvas.getContext('2d', { willReadFrequently: true });
        context.drawImage(video, 0, 0, 640, 360);
        return [[20, 20], [560, 310]].map(([x, y]) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)]);
      })()`);
    const isBlue = ([red = 0, green = 0, blue = 0]: number[] = []) => blue > 200 && red + green < 60;
    await page.getByRole('button', { name: 'Share screen' }).click();
    await until('the camera is over the screen', async () => {
      const [screen, corner] = await colors();
      return isBlue(screen) && !isBlue(corner);
    });
    await page.getByRole('button', { name: 'Screen only' }).click();
    await until('the screen is alone', async () => (await colors()).every(isBlue));
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    await until('the camera is back', async () => !(await colors()).some(isBlue));

    // Leaving would end it.
    await page.getByRole('link', { name: 'Videos', exact: true }).first().click();
    await page.getByText('Leaving this page ends the broadcast for your viewers.').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();

    await page.getByRole('button', { name: 'End broadcast' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End broadcast' }).click();
    await status(page).getByText('The broadcast has ended').waitFor();
    await until('it has ended', async () => (await protocolOf(liveStreamId))?.state === 'ended');
    expect(await protocolOf(liveStreamId)).toMatchObject({ endReason: 'completed' });
    expect(dashboard.complaints).toEqual([]);
  });

  it('reconnects within the same broadcast, and does not when somebody has ended it', async () => {
    const { liveStreamId } = await server.createStream('Harbour');
    await using dashboard = await DashboardPage.open(
      browser(),
      server,
      `/dashboard/live/${liveStreamId}/studio`,
      {
        viewport: { width: 390, height: 844 },
        colorScheme: 'dark',
      },
    );
    const { page } = dashboard;
    // The page keeps its connections to itself.
    await page.evaluate(`(() => {
      const Original = RTCPeerConnection;
      window.RTCPeerConnection = class extends Original {
        constructor(...options) {
          super(...options);
          window.newestConnection = this;
        }
      };
    })()`);
    await page.getByRole('button', { name: 'Turn on camera' }).click();
    await page.getByRole('button', { name: 'Go live', exact: true }).click();
    await status(page).getByText('You’re live').waitFor();
    await until('the broadcast is live', async () => (await protocolOf(liveStreamId))?.state === 'live');
    const before = await protocolOf(liveStreamId);
    // The next connection may be there before anybody could look.
    await page.evaluate(`(() => {
      window.shown = '';
      const watch = () => { window.shown += document.querySelector('.studio-state').textContent; };
      new MutationObserver(watch).observe(document.body, { subtree: true, childList: true, characterData: true });
      const connection = window.newestConnection;
      connection.close();
      connection.onconnectionstatechange?.();
    })()`);
    await until('it reconnects', () => page.evaluate(`window.shown.includes('Reconnecting')`));
    await status(page).getByText('You’re live').waitFor();
    expect(await protocolOf(liveStreamId)).toMatchObject({ ...before, state: expect.any(String) });
    expect(await dashboard.violations()).toEqual([]);

    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    await status(page).getByText('The broadcast has ended').waitFor();
    await page.getByRole('button', { name: 'Go live again' }).waitFor();
  });

  it('says why it cannot use a camera, and works with the microphone of a later try', async () => {
    const { liveStreamId } = await server.createStream('Quay');
    await using dashboard = await DashboardPage.open(
      browser(),
      server,
      `/dashboard/live/${liveStreamId}/studio`,
    );
    const { page } = dashboard;
    await page.evaluate(`(() => {
      const devices = navigator.mediaDevices;
      const original = devices.getUserMedia.bind(devices);
      let calls = 0;
      devices.getUserMedia = wanted => {
        calls += 1;
        if (calls === 1) return Promise.reject(new DOMException('', 'NotAllowedError'));
        return original(wanted);
      };
    })()`);
    await page.getByRole('button', { name: 'Turn on camera' }).click();
    await page.getByText('Your browser doesn’t allow this page to use the camera.').waitFor();
    expect(await page.getByRole('button', { name: 'Go live', exact: true }).count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Turn on camera' }).click();
    await page.locator('.studio-preview video').waitFor();
  });
});
