import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import {
  answerError,
  answerSpeech,
  answerSummary,
  type FakeModel,
  startFakeModel,
} from '../support/fake-model.ts';
import { makeSpeech } from '../support/speech.ts';
import type { TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

const summary = (abstract: string) =>
  answerSummary(JSON.stringify({ abstract, takeaways: ['Boats leave at five.'] }));

describeInBrowser('generated texts in the dashboard', browser => {
  let model: FakeModel;
  let stopModel: () => void;
  let server: TestServer;
  let videoId: string;
  let dashboard: DashboardPage;
  let page: Page;
  beforeAll(async () => {
    model = await startFakeModel(answerSpeech(), stop => {
      stopModel = stop;
    });
    server = await startDashboard({
      'transcription.url': model.url,
      'transcription.chunk': '10s',
      'summary.model': 'small',
      'encode.preset': 'ultrafast',
    });
    ({ videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' }));
    await send(videoId, (await makeSpeech()).speech);
    dashboard = await DashboardPage.open(browser(), server, `/dashboard/videos/${videoId}?part=captions`);
    ({ page } = dashboard);
  });
  beforeEach(() => {
    held.length = 0;
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
    stopModel?.();
  });

  /** Answers that the test gives later. */
  const held: ((answer: FakeModel['answer']) => void)[] = [];
  const hold: FakeModel['answer'] = (call, response, count) => {
    held.push(answer => answer(call, response, count));
  };
  const nextHeld = () => waitUntil(() => held.shift(), { what: 'a request to the model' });
  const send = async (id: string, film: Buffer) => {
    const body = new FormData();
    body.set('file', new File([Uint8Array.from(film)], 'film.mp4'));
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const sent = await fetch(`${server.baseUrl}/videos/${id}/source`, { method: 'POST', headers, body });
    expect(sent.status).toBe(201);
  };
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const chooseForSummary = async (action: string) => {
    await button('Actions for the summary').click();
    await page.getByRole('menuitem', { name: action }).click();
  };

  it('show the progress of captions, the reason of a failure, and the result of another attempt', async () => {
    await page.evaluate('window.isSamePage = true');
    const captions = card('Captions');
    await captions.getByText('No captions yet.').waitFor();
    model.answer = (...call) => (call[2] === 1 ? answerSpeech('en') : hold)(...call);
    await button('Generate captions').click();
    await nextHeld();
    await captions.getByText('Captions are being generated.').waitFor();
    await waitUntil(
      async () => {
        const percent = await page.getByRole('progressbar', { name: 'Captions' }).getAttribute('value');
        return Number(percent) > 0 && Number(percent) < 100;
      },
      { what: 'progress' },
    );
    expect(await button('Generate captions').count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);

    await button('Cancel captions').click();
    await captions.getByText('No captions yet.').waitFor();
    model.answer = hold;
    await button('Generate captions').click();
    (await nextHeld())(answerError(401, 'no'));
    const reason = /could not be generated.*refused the API key \(401\)/;
    await captions.getByRole('alert').getByText(reason).waitFor();
    model.answer = answerSpeech('en');
    await button('Regenerate captions').click();
    await captions.getByText('Automatic', { exact: true }).waitFor();
    await button('Actions for English captions').waitFor();
    await captions.getByRole('alert').waitFor({ state: 'detached' });
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });

  it('show that a summary is generated, the reason of a failure, and the text without a reload', async () => {
    const own = card('Summary');
    await own.getByText('No summary yet.').waitFor();
    model.answer = hold;
    await button('Generate summary').click();
    await own.getByText('The summary is being generated.').waitFor();
    (await nextHeld())(answerSummary('I cannot do that.'));
    await own
      .getByRole('alert')
      .getByText(/could not be generated.*isn’t a valid summary/)
      .waitFor();
    expect(await dashboard.violations()).toEqual([]);

    await button('Regenerate summary').click();
    (await nextHeld())(summary('Boats leave the harbour.'));
    await own.getByText('Boats leave the harbour.').waitFor();
    await own.getByText('Boats leave at five.').waitFor();

    await chooseForSummary('Regenerate');
    await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click();
    (await nextHeld())(summary('The harbour at dawn.'));
    await own.getByText('The harbour at dawn.').waitFor();

    await chooseForSummary('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete summary' }).click();
    await own.getByText('No summary yet.').waitFor();

    await button('Generate summary').click();
    await nextHeld();
    await button('Cancel summary').click();
    await own.getByText('No summary yet.').waitFor();
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    expect(dashboard.complaints).toEqual([]);
  });

  it('are only read by viewers', async () => {
    model.answer = summary('Boats leave the harbour.');
    await server.api('POST', '/summaries', { videoId, origin: 'auto' });
    await card('Summary').waitFor();
    await page.route('**/auth/session', async route => {
      const response = await route.fetch();
      const body = { ...((await response.json()) as object), role: 'viewer', scopes: ['read'] };
      await route.fulfill({ response, json: body });
    });
    await page.reload();
    await card('Summary').getByText('Boats leave the harbour.').waitFor();
    expect(await card('Summary').getByRole('button').count()).toBe(0);
    await page.goto(`${server.baseUrl}/dashboard/settings`);
    await card('New videos').getByText('New videos get no captions and no summary automatically.').waitFor();
    await page.unroute('**/auth/session');
  });

  it('are chosen for all new videos of the environment, and for an upload', async () => {
    await page.goto(`${server.baseUrl}/dashboard/settings`);
    const defaults = card('New videos');
    await defaults.getByLabel('Generate captions').check();
    await button('Save defaults').click();
    await dashboard.untilSaid('Defaults saved.');
    expect(await dashboard.violations()).toEqual([]);
    expect(await (await server.api('GET', '/account/video-defaults')).json()).toMatchObject({
      transcript: true,
      transcriptSummary: false,
      recordings: true,
    });

    await page.goto(`${server.baseUrl}/dashboard/videos`);
    await button('Upload videos').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Options').click();
    expect(await dialog.getByLabel('Generate captions').isChecked()).toBe(true);
    await dialog.getByLabel('Generate captions').uncheck();
    await dialog.getByLabel('Generate a summary').check();
    const file = { name: 'Quay.mp4', mimeType: 'video/mp4', buffer: Buffer.from('film') };
    await dialog.getByLabel('Files to upload').setInputFiles(file);
    const created = page.waitForRequest(
      request => request.method() === 'POST' && request.url().endsWith('/videos'),
    );
    await dialog.getByRole('button', { name: 'Upload video' }).click();
    expect((await created).postDataJSON()).toMatchObject({ transcript: false, transcriptSummary: true });
  });
});

describeInBrowser('the dashboard of a server without models', browser => {
  it('hides what cannot be generated, and says so on the account page', async () => {
    const server = await startDashboard();
    try {
      const { videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' });
      await using dashboard = await DashboardPage.open(
        browser(),
        server,
        `/dashboard/videos/${videoId}?part=captions`,
      );
      const { page } = dashboard;
      const card = (name: string) => page.getByRole('region', { name, exact: true });
      await card('Captions').getByText('No captions yet.').waitFor();
      await card('Chapters').waitFor();
      await page.getByRole('button', { name: 'Generate captions' }).waitFor({ state: 'detached' });
      expect(await card('Summary').count()).toBe(0);
      await page.goto(`${server.baseUrl}/dashboard/settings`);
      await card('New videos').getByText('This server can’t generate captions').waitFor();
      expect(await card('New videos').getByLabel('Generate captions').isDisabled()).toBe(true);
      expect(await dashboard.violations()).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
