import { openAsBlob } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { pngImage } from '../support/images.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Json = any;

/** A request that the receiver got. */
interface Received {
  readonly body: string;
  readonly deliveryId: string;
}

describeInBrowser('what programs are given in the dashboard', browser => {
  let server: TestServer;
  let dashboard: DashboardPage;
  let page: Page;
  let receiver: Server;
  let hookUrl: string;
  const received: Received[] = [];
  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      received.push({ body, deliveryId: String(request.headers['millrace-delivery-id']) });
      response.end('Thank you.');
    });
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve));
    hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    server = await startDashboard({ allowPrivateTargets: 'true', 'encode.preset': 'ultrafast' });
    dashboard = await DashboardPage.open(browser(), server, '/dashboard/webhooks');
    ({ page } = dashboard);
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const go = (path: string) => page.goto(`${server.baseUrl}/dashboard/${path}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const said = (words: string) => dashboard.untilSaid(words);
  const endpoint = () => page.getByRole('dialog').getByLabel('Endpoint URL');
  const dataOf = async (path: string): Promise<Json[]> =>
    ((await (await server.api('GET', path)).json()) as Json).data;
  const scan = async () => {
    expect(await dashboard.violations()).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  };

  /** A refusal that a test asked for is told in the console too. */
  const expectRefusal = () =>
    expect(dashboard.complaints.splice(0)).toEqual([expect.stringContaining('status of 400')]);

  it('makes a webhook, and an upload token with which a video is sent that the webhook is told of, twice', async () => {
    await page.getByText('No webhooks yet').waitFor();
    await button('New webhook').click();
    await endpoint().fill('ftp://a.example');
    await page.getByLabel('A quality is encoded video.encoding.quality.completed').check();
    await page.getByText('Begin the URL with “https://”').waitFor();
    await button('Create webhook').click();
    await endpoint().and(page.locator('[aria-invalid=true]:focus')).waitFor();
    expectRefusal();
    // Private addresses are allowed here, those of the machine's link never.
    await endpoint().fill('http://169.254.1.1/in');
    await page.getByText(/^This server never delivers to link-local/).waitFor();
    await scan();
    await endpoint().fill(`${hookUrl}/old`);
    await page.getByText(/^This server never delivers to link-local/).waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await page.getByText('No deliveries yet').waitFor();

    await button('Edit').click();
    await endpoint().fill('http://127.0.0.1:9/in');
    await page.getByLabel('A broadcast ends').check();
    await scan();
    await page.keyboard.press('Enter');
    await dashboard.untilSaid('Webhook saved.');
    await button('Send test event').click();
    await page.getByText('Test event failed').waitFor();
    await page.getByText(/Connection refused\. It took \d/).waitFor();
    await page.getByRole('button', { name: /^Send again/ }).click();
    await page.getByText('Test event failed').waitFor({ state: 'hidden' });
    await page.getByRole('cell', { name: 'Test event', exact: true }).nth(1).waitFor();
    await button('Send test event').click();
    await page.getByText('Test event failed').waitFor();
    await button('Edit').click();
    await endpoint().fill(hookUrl);
    await page.getByLabel('A broadcast ends').uncheck();
    await page.keyboard.press('Enter');
    await page.getByText('Test event failed').waitFor({ state: 'hidden' });
    await button('Send test event').click();
    await page.getByText('Test event delivered').waitFor();
    await page.getByText(/^HTTP 200\. It took \d/).waitFor();
    await page.getByRole('cell', { name: 'Test event', exact: true }).nth(3).waitFor();
    await scan();
    expect(JSON.parse(received.at(-1)!.body)).toMatchObject({ type: 'webhook.test' });
    const [hook] = await dataOf('/webhooks');
    expect(hook).toMatchObject({ url: hookUrl, events: ['video.encoding.quality.completed'] });
    await button('Show signing secret').click();
    expect(await page.getByLabel('Signing secret', { exact: true }).inputValue()).toBe(hook.signatureSecret);
    const hookPath = new URL(page.url()).pathname;

    await go('upload-tokens');
    await button('New upload token').click();
    await page.getByLabel('Valid for').selectOption('1 week');
    await page.keyboard.press('Tab');
    await button('Create token').click();
    const token = await page.getByRole('textbox', { name: 'Token' }).inputValue();
    await page.getByText(`/upload?token=${token}`).first().waitFor();
    await scan();
    const [made] = await dataOf('/upload-tokens');
    expect(made).toMatchObject({ token, ttl: 7 * 86_400 });
    await button('Done').click();
    await page.getByText('in 7 days').waitFor();

    await page.goto(server.baseUrl + hookPath);
    await page.getByRole('cell', { name: 'Test event', exact: true }).first().waitFor();
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-only')), 'Mill wheel.mp4');
    const sent = await fetch(`${server.baseUrl}/upload?token=${token}`, { method: 'POST', body: film });
    expect(sent.status).toBe(201);
    // Updates without a reload.
    await page.getByRole('cell', { name: 'A quality is encoded' }).first().waitFor();
    await page.getByRole('cell', { name: 'Delivered' }).first().waitFor();
    await scan();

    await button(/^Details of A quality is encoded/)
      .first()
      .click();
    await page.getByText('Thank you.').waitFor();
    await page.getByText('"type": "video.encoding.quality.completed"').waitFor();
    await scan();
    await button('Send again').click();
    await page.getByText('Resent from').waitFor();
    // Events of other qualities may come in between.
    const findRepeat = () =>
      received.find(({ body }, index) => received.findIndex(one => one.body === body) < index);
    await until('the second delivery', () => findRepeat() !== undefined);
    const again = findRepeat()!;
    expect(received.filter(({ body }) => body === again.body)).toHaveLength(2);
    await page.getByRole('dialog').getByText('HTTP 200').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const deliveries = await dataOf(`/webhooks/${hook.webhookId}/deliveries`);
    const delivered = deliveries.find(({ deliveryId }) => deliveryId === again.deliveryId);
    expect(delivered).toMatchObject({ status: 'succeeded' });
    await page.getByLabel('Filter by state').selectOption('Failed');
    await page.getByRole('cell', { name: 'A quality is encoded' }).first().waitFor({ state: 'hidden' });
    await page.getByRole('cell', { name: 'Test event', exact: true }).nth(1).waitFor();
    await page.getByLabel('Filter by state').selectOption('Retrying');
    await page.getByText('No results').waitFor();
  });

  it('sets up a publish hook, tests it, and shows its answers', async () => {
    await go('webhooks');
    await button('Set up publish hook').click();
    await endpoint().fill('http://127.0.0.1:9/publish');
    await page.getByLabel('Timeout (seconds)').fill('11');
    await button('Save').click();
    await page.locator('.field-error').waitFor();
    expectRefusal();
    await page.getByLabel('Timeout (seconds)').fill('2');
    await scan();
    await button('Save').click();
    await page.getByText('No requests yet.').waitFor();
    await button('Send test to the publish hook').click();
    await page.getByText('The hook didn’t respond').waitFor();
    await page.getByRole('cell', { name: 'Refused', exact: true }).waitFor();
    await scan();
    await button('Edit the publish hook').click();
    await endpoint().fill(hookUrl);
    await page.getByLabel('Without a response').selectOption('Let the encoder go live');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await button('Send test to the publish hook').click();
    await page.getByText('The hook responded: allowed').waitFor();
    await page.getByRole('cell', { name: 'Allowed', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'Thank you.' }).waitFor();
    expect(JSON.parse(received.at(-1)!.body)).toMatchObject({ type: 'hook.publish', test: true });
    const hook = (await (await server.api('GET', '/hooks/publish')).json()) as Json;
    expect(hook).toMatchObject({ url: hookUrl, timeoutSeconds: 2, onFailure: 'allow' });
    await scan();
    await button('Delete the publish hook').click();
    await page.getByLabel(/^Type/).fill(hookUrl);
    await page.keyboard.press('Enter');
    await button('Set up publish hook').waitFor();
    expect((await server.api('GET', '/hooks/publish')).status).toBe(404);
  });

  it('sets up a play hook, and shows whom it was asked about', async () => {
    await go('webhooks');
    await button('Set up play hook').click();
    await endpoint().fill(hookUrl);
    await page.getByLabel('Without a response').selectOption('Let the viewer play');
    await scan();
    await button('Save').click();
    await page.getByText('No requests yet.').waitFor();
    const { liveStreamId } = await server.createStream('Pier');
    await until('a viewer of whom the hook was asked', async () => {
      await fetch(`${server.baseUrl}/live/${liveStreamId}?ticket=7`, { headers: { 'user-agent': 'Guest' } });
      const { results } = (await (await server.api('GET', '/hooks/play')).json()) as Json;
      return results.length > 0;
    });
    expect(JSON.parse(received.at(-1)!.body)).toMatchObject({ type: 'hook.play', query: 'ticket=7' });
    await page.reload();
    await page.getByRole('cell', { name: 'Allowed', exact: true }).waitFor();
    const hook = (await (await server.api('GET', '/hooks/play')).json()) as Json;
    expect(hook).toMatchObject({ url: hookUrl, onFailure: 'allow', results: [{ liveStreamId }] });
    await scan();
    await button('Delete the play hook').click();
    await page.getByLabel(/^Type/).fill(hookUrl);
    await page.keyboard.press('Enter');
    await button('Set up play hook').waitFor();
  });

  it('deletes a webhook and an upload token by their names', async () => {
    await go('webhooks');
    await page.getByRole('cell', { name: 'Delivered' }).waitFor();
    await button(`Delete ${hookUrl}`).click();
    await page.getByLabel(/^Type/).fill(hookUrl);
    await scan();
    await page.keyboard.press('Enter');
    await page.getByText('No webhooks yet').waitFor();
    expect(await dataOf('/webhooks')).toEqual([]);

    const [{ token }] = await dataOf('/upload-tokens');
    await go('upload-tokens');
    await button(`Delete token ${token.slice(-6)}`).click();
    await page.keyboard.type(token.slice(-6));
    await page.keyboard.press('Enter');
    await page.getByText('No upload tokens').waitFor();
    const film = new FormData();
    film.set('file', new Blob(['some bytes']), 'a.mp4');
    const refused = await fetch(`${server.baseUrl}/upload?token=${token}`, { method: 'POST', body: film });
    expect(refused.status).toBe(401);
  });

  it('uploads a watermark, shows where it will stand, and deletes it', async () => {
    await go('watermarks');
    await page.getByText('No watermarks yet').waitFor();
    await button('New watermark').click();
    const image = (text: Buffer) => ({ name: 'mark.png', mimeType: 'image/png', buffer: text });
    await page.getByLabel('Image').setInputFiles(image(Buffer.from('no image')));
    const upload = page.getByRole('dialog').getByRole('button', { name: 'Upload' });
    await page.getByText('The image is damaged').waitFor();
    expect(await upload.isDisabled()).toBe(true);
    await page.getByLabel('Image').setInputFiles(image(pngImage(400, 200)));
    await page.getByText('400 × 200 pixels').waitFor();
    await page.getByRole('dialog').getByLabel('Name').fill('Harbour logo');
    await scan();
    await upload.click();
    await said('Watermark uploaded.');
    const [{ watermarkId, name }] = await dataOf('/watermarks');
    expect(name).toBe('Harbour logo');

    const mark = page.getByRole('img', { name: /^Watermark, / });
    await page.getByRole('img', { name: 'Watermark, 288 by 144 pixels at 1574, 882' }).waitFor();
    await page.getByLabel('Preview with').selectOption('Landscape, 1280 × 720');
    await page.getByLabel('Corner').selectOption('Top right');
    await page.getByLabel('From the right: unit').selectOption('pixels');
    await page.getByLabel('From the right: number').fill('20');
    await page.getByLabel('Width: unit').selectOption('original');
    await page.getByLabel('From the top: slider').fill('10');
    await page.getByRole('img', { name: 'Watermark, 400 by 200 pixels at 860, 72' }).waitFor();
    const [frame, box] = [await page.locator('.placement-frame').boundingBox(), await mark.boundingBox()];
    expect((box!.x - frame!.x) / frame!.width).toBeCloseTo(860 / 1_280, 2);
    expect(box!.height / frame!.height).toBeCloseTo(200 / 720, 2);
    await scan();
    const placement = await page
      .getByRole('figure', { name: 'Placement', exact: true })
      .locator('pre')
      .innerText();
    const watermark = JSON.parse(placement);
    expect(watermark).toEqual({ id: watermarkId, top: '10%', right: '20px', opacity: '80%' });
    expect((await server.api('POST', '/videos', { title: 'Mill', watermark })).status).toBe(201);

    await page.reload();
    // The placement is that of before.
    await page.getByRole('img', { name: 'Watermark, 400 by 200 pixels at 1500, 108' }).waitFor();
    await button('Rename Harbour logo').click();
    await page.getByRole('dialog').getByLabel('Name').fill('Mill logo');
    await page.keyboard.press('Enter');
    await said('Watermark renamed.');
    await button('Delete Mill logo').click();
    await page.keyboard.type('Mill logo');
    await scan();
    await page.keyboard.press('Enter');
    await page.getByText('No watermarks yet').waitFor();
    expect(await dataOf('/watermarks')).toEqual([]);
  });
});
