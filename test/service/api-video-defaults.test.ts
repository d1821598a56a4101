import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sandboxKey, startApi, type TestAccount, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';

const requested: string[] = [];
const work = (name: string) => async (videoId: string) => void requested.push(`${name} ${videoId}`);
const captionGeneration = { transcribe: work('transcribe'), summarize: work('summarize') };

let server: TestApi;
/** Account of each test. */
let account: TestAccount;
beforeAll(async () => {
  server = await startApi({
    captionGeneration: { ...captionGeneration, canTranscribe: true, canSummarize: true },
  });
});
beforeEach(async () => {
  requested.length = 0;
  account = await server.addAccount({ isUpgraded: true });
});
afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, key = account.sandboxKey, on = server) =>
  on.call(method, path, { key, body });
const set = (body: object, key?: string, on?: TestApi) =>
  call('PATCH', '/account/video-defaults', body, key, on);
const create = async (attributes: object = {}, key?: string): Promise<string> => {
  const answer = await call('POST', '/videos', { title: 'Harbour', ...attributes }, key);
  expect([201, 202]).toContain(answer.status);
  return answer.json.videoId;
};
const transcriptOf = async (videoId: string, key?: string) =>
  (await call('GET', `/videos/${videoId}/status`, undefined, key)).json.transcript.status;
const summariesOf = async (videoId: string) =>
  (await call('GET', `/summaries?videoId=${videoId}`)).json.data.map(
    ({ origin, sourceStatus }: Record<string, string>) => `${origin} ${sourceStatus}`,
  );

describe('the defaults of new videos', () => {
  it('generate nothing until they are set, in one environment only', async () => {
    expect((await call('GET', '/account/video-defaults')).json).toEqual({
      transcript: false,
      transcriptSummary: false,
      recordings: true,
      available: { transcript: true, transcriptSummary: true },
    });
    expect(await transcriptOf(await create())).toBe('none');
    const answer = await set({ transcript: true });
    expect([answer.status, answer.json.transcript]).toEqual([200, true]);
    expect((await call('GET', '/account/video-defaults')).json).toEqual(answer.json);
    const other = (await call('GET', '/account/video-defaults', undefined, account.productionKey)).json;
    expect(other.transcript).toBe(false);
    const videoId = await create();
    expect(await transcriptOf(videoId)).toBe('waiting');
    expect(requested).toEqual([`transcribe ${videoId}`]);
    expect(await transcriptOf(await create({}, account.productionKey), account.productionKey)).toBe('none');
  });

  it('keep what is not sent, and what was created before', async () => {
    const before = await create();
    await set({ transcript: true, transcriptSummary: true });
    expect((await set({ recordings: false })).json).toMatchObject({
      transcript: true,
      transcriptSummary: true,
      recordings: false,
    });
    expect((await set({})).status).toBe(200);
    expect(await transcriptOf(before)).toBe('none');
    await call('PATCH', `/videos/${before}`, { title: 'Pier' });
    expect(await transcriptOf(before)).toBe('none');
  });

  it('give way to what a video is created with', async () => {
    await set({ transcript: true, transcriptSummary: true });
    const both = await create();
    expect([await transcriptOf(both), await summariesOf(both)]).toEqual(['waiting', ['auto waiting']]);
    const none = await create({ transcript: false });
    expect([await transcriptOf(none), await summariesOf(none)]).toEqual(['none', []]);
    const captions = await create({ transcriptSummary: false });
    expect([await transcriptOf(captions), await summariesOf(captions)]).toEqual(['waiting', []]);
    await set({ transcript: false, transcriptSummary: false });
    const asked = await create({ transcript: true });
    expect([await transcriptOf(asked), await summariesOf(asked)]).toEqual(['waiting', []]);
  });

  it('are for uploads with a token, too', async () => {
    await set({ transcript: true });
    const { token } = (await call('POST', '/upload-tokens', {})).json;
    const body = new FormData();
    body.set('file', new File(['film'], 'film.mp4'));
    const sent = await fetch(`${server.baseUrl}/upload?token=${token}`, { method: 'POST', body });
    const { videoId } = (await sent.json()) as { videoId: string };
    expect(await transcriptOf(videoId)).toBe('waiting');
  });

  it('are for recordings unless that is turned off', async () => {
    await set({ transcript: true });
    const { liveStreamId } = (await call('POST', '/live-streams', { name: 'Pier' })).json;
    const record = (videoId: string) =>
      server.database.transaction(transaction =>
        server.api.videos.createRecorded(
          account.projectIds.sandbox,
          { videoId, liveStreamId, title: 'Pier', public: true, playerId: undefined },
          transaction,
        ),
      );
    const id = (letter: string) => `vi${letter}${account.accountId.slice(-21)}`;
    expect(await transcriptOf((await record(id('a'))).videoId)).toBe('waiting');
    await set({ recordings: false });
    expect(await transcriptOf((await record(id('b'))).videoId)).toBe('none');
    expect(await transcriptOf(await create())).toBe('waiting');
  });

  it.each([
    [{ transcript: 'yes' }, 'transcript'],
    [{ recordings: null }, 'recordings'],
    [{ captions: true }, 'captions'],
  ])('cannot be %j', async (body, name) => {
    const answer = await set(body);
    expect([answer.status, answer.json.name]).toEqual([400, name]);
  });

  it('are in the audit log', async () => {
    await set({ transcript: true });
    const { json } = await call('GET', '/account/audit-log?action=video-default.update');
    expect(json.data).toHaveLength(1);
  });
});

describe('a server without models', () => {
  it('refuses to turn them on, ignores those of before, and can turn them off', async () => {
    const dataDir = await testTempDir();
    const first = await startApi({
      dataDir,
      captionGeneration: { ...captionGeneration, canTranscribe: true, canSummarize: true },
    });
    await set({ transcript: true, transcriptSummary: true }, sandboxKey, first);
    await first.stop();
    const without = await startApi({ dataDir });
    onTestFinished(() => without.stop());
    const created = await without.call('POST', '/videos', { body: { title: 'Harbour' } });
    expect(created.status).toBe(201);
    const { videoId } = created.json;
    expect((await without.call('GET', `/videos/${videoId}/status`)).json).not.toHaveProperty('transcript');
    expect((await without.call('GET', '/account/video-defaults')).json).toEqual({
      transcript: true,
      transcriptSummary: true,
      recordings: true,
      available: { transcript: false, transcriptSummary: false },
    });
    const refused = await set({ transcript: true }, sandboxKey, without);
    expect([refused.status, refused.json.name]).toEqual([400, 'transcript']);
    expect(refused.json.problems[0].detail).toMatch(/not available on this server/);
    const off = await set({ transcript: false, transcriptSummary: false }, sandboxKey, without);
    expect([off.status, off.json.transcript]).toEqual([200, false]);
  });

  it('summarizes no new video where captions cannot be generated', async () => {
    const only = await startApi({ captionGeneration: { ...captionGeneration, canSummarize: true } });
    onTestFinished(() => only.stop());
    expect((await set({ transcriptSummary: true }, sandboxKey, only)).status).toBe(200);
    await only.call('POST', '/videos', { body: { title: 'Harbour' } });
    expect((await only.call('GET', '/summaries')).json.data).toEqual([]);
  });
});
