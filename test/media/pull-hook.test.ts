import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Receiver, startReceiver } from '../service/webhook-fixture.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { startTsSource } from '../support/ts-source.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Stream {
  readonly liveStreamId: string;
  readonly broadcasting: boolean;
  readonly source?: { readonly state: string; readonly reason?: string };
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ allowPrivateTargets: 'true', 'live.stopGrace': '100ms' });
});
afterAll(() => server?.stop());

async function startHook(status: number, body: object): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer = (_, response) => {
    response.statusCode = status;
    response.end(JSON.stringify(body));
  };
  const { ok } = await server.api('PUT', '/hooks/publish', { url: receiver.url });
  expect(ok).toBe(true);
  onTestFinished(async () => {
    await server.api('DELETE', '/hooks/publish');
  });
  return receiver;
}

/** Removed after the test. */
async function pull(url: string): Promise<Stream> {
  const answer = await server.api('POST', '/live-streams', { name: 'A camera', source: { url } });
  const stream = (await answer.json()) as Stream;
  expect(answer.status, JSON.stringify(stream)).toBe(200);
  onTestFinished(async () => {
    await server.api('DELETE', `/live-streams/${stream.liveStreamId}`);
  });
  return stream;
}

const read = async (liveStreamId: string) =>
  (await (await server.api('GET', `/live-streams/${liveStreamId}`)).json()) as Stream;

const untilState = ({ liveStreamId }: Stream, state: string) =>
  waitUntil(
    async () => {
      const { source } = await read(liveStreamId);
      return source?.state === state && source;
    },
    { what: `the state ${state}` },
  );

describe('a publish hook', () => {
  test('refuses a pulled source with a text, which the live stream shows', async () => {
    await using camera = await startTsSource();
    const receiver = await startHook(403, { message: 'This camera is not booked.' });
    const stream = await pull(camera.url);
    const { reason } = await untilState(stream, 'retrying');
    expect(reason).toContain('This camera is not booked.');
    expect(receiver.hooks[0]!.json).toMatchObject({
      type: 'hook.publish',
      liveStreamId: stream.liveStreamId,
      protocol: 'pull',
      query: '',
      encoder: '',
    });
    expect((await read(stream.liveStreamId)).broadcasting).toBe(false);
  });

  test('chooses another live stream for a pulled source', async () => {
    await using camera = await startTsSource();
    const target = await server.createStream('Target');
    await startHook(200, { liveStreamId: target.liveStreamId });
    const stream = await pull(camera.url);
    await waitUntil(async () => (await read(target.liveStreamId)).broadcasting, { what: 'the broadcast' });
    expect((await read(stream.liveStreamId)).broadcasting).toBe(false);
  });
});
