import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { startReceiver } from '../service/webhook-fixture.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import {
  answerError,
  answerSpeech,
  answerSummary,
  type FakeModel,
  startFakeModel,
} from '../support/fake-model.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { makeSpeech } from '../support/speech.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { VideoServer } from './vod-server-fixture.ts';

let speech: Buffer;
let silentVideo: Buffer;

beforeAll(async () => {
  ({ speech, silentVideo } = await makeSpeech());
});

async function start(
  model: FakeModel,
  settings: Parameters<typeof startServer>[0] = {},
): Promise<TestServer> {
  const server = await startServer(settingsOf(model, settings), { hasImages: false });
  onTestFinished(() => server.stop());
  return server;
}

function settingsOf(model: FakeModel, settings: Parameters<typeof startServer>[0]) {
  return {
    'transcription.url': model.url,
    'transcription.apiKey': 'key-of-the-model',
    'transcription.chunk': '10s',
    allowPrivateTargets: 'true',
    ...settings,
  };
}

interface Shared {
  readonly model: FakeModel;
  readonly server: TestServer;
}

/** A server for several tests, with a model that answers as the test says and forgets the calls before. */
function shared(settings: Parameters<typeof startServer>[0] = {}): (answer?: FakeModel['answer']) => Shared {
  let one: Shared;
  const atEnd: (() => unknown)[] = [];
  beforeAll(async () => {
    const model = await startFakeModel(answerSpeech(), stop => atEnd.push(stop));
    const server = await startServer(settingsOf(model, settings), { hasImages: false });
    atEnd.unshift(() => server.stop());
    one = { model, server };
  });
  afterAll(async () => {
    for (const end of atEnd) await end();
  });
  return (answer = answerSpeech()) => {
    one.model.answer = answer;
    one.model.calls.length = 0;
    return one;
  };
}

/** Makes chunks of the speech. */
const chunked = shared();
/** Asks for all of the speech at once. */
const whole = shared({ 'transcription.chunk': '60s', 'summary.model': 'small' });

async function upload(
  server: TestServer,
  bytes: Buffer,
  attributes: Record<string, unknown> = {},
): Promise<string> {
  const created = await server.api('POST', '/videos', { title: 'Harbour', mp4Support: false, ...attributes });
  const { videoId } = (await created.json()) as { videoId: string };
  await sendSource(server, videoId, bytes);
  return videoId;
}

async function sendSource(server: TestServer, videoId: string, bytes: Buffer): Promise<void> {
  const form = new FormData();
  form.set('file', new File([Uint8Array.from(bytes)], 'film.mp4'));
  const headers = { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` };
  const sent = await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    headers,
    body: form,
  });
  expect(sent.status).toBe(201);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
async function get(server: TestServer, path: string): Promise<any> {
  return (await server.api('GET', path)).json();
}

const transcriptOf = async (server: TestServer, videoId: string) =>
  (await get(server, `/videos/${videoId}/status`)).transcript;

const settled = (server: TestServer, videoId: string) =>
  waitUntil(
    async () => {
      const transcript = await transcriptOf(server, videoId);
      return ['completed', 'failed'].includes(transcript.status) ? transcript : undefined;
    },
    { timeoutMs: encodeTimeoutMs },
  );

const captionsOf = async (server: TestServer, videoId: string, language: string) =>
  (await fetch(`${server.baseUrl}/vod/${videoId}/captions/${language}.vtt`)).text();

const answerEndlessly: FakeModel['answer'] = (_, response) => {
  const more = () => {
    while (response.write('x'.repeat(65_536)) && !response.destroyed);
  };
  response.on('drain', more);
  response.on('error', () => {});
  more();
};

describe('automatic captions', () => {
  test('are made of chunks that end at quiet places, in the detected language, and announced to webhooks', async () => {
    const { model, server } = chunked();
    const receiver = await startReceiver();
    await server.api('POST', '/webhooks', { events: ['video.caption.generated'], url: receiver.url });
    const videoId = await upload(server, speech, { transcript: true });
    expect(await settled(server, videoId)).toEqual({ status: 'completed', progress: 100, language: 'en' });

    expect(model.calls.map(({ path, headers }) => [path, headers.authorization])).toEqual(
      model.calls.map(() => ['/v1/audio/transcriptions', 'Bearer key-of-the-model']),
    );
    expect(model.calls.length).toBeGreaterThanOrEqual(3);
    expect(model.calls.map(({ fields }) => fields.get('language'))).toEqual([
      undefined,
      ...model.calls.slice(1).map(() => 'en'),
    ]);
    expect(model.calls[0]!.fields.get('response_format')).toBe('verbose_json');
    for (const { file } of model.calls) expect(file.subarray(0, 4).toString()).toBe('fLaC');

    const vtt = await captionsOf(server, videoId, 'en');
    const starts = [...vtt.matchAll(/^(\d\d):(\d\d):(\d\d\.\d{3}) -->/gm)].map(([, , , seconds]) =>
      Number(seconds),
    );
    expect(starts).toHaveLength(model.calls.length);
    expect(starts[0]).toBe(0.5);
    // The second chunk begins in the quiet place.
    expect(starts[1]).toBeGreaterThan(9.2);
    expect(starts[1]).toBeLessThan(9.8);
    expect(vtt).toContain('Boats leave the harbour.');

    const [caption] = (await get(server, `/videos/${videoId}/captions`)).data;
    expect(caption).toMatchObject({ srclang: 'en', default: false, generated: true });
    expect(await get(server, `/videos/${videoId}`)).toMatchObject({ language: 'en', languageOrigin: 'auto' });
    const hook = await waitUntil(async () => receiver.hooks[0]);
    expect(hook.json).toMatchObject({
      type: 'video.caption.generated',
      videoId,
      captionId: expect.stringMatching(/^caption_[0-9A-Za-z]{22}$/),
      generationMode: 'transcript',
      language: 'en',
    });
    const manifest = await fetch(`${server.baseUrl}/vod/${videoId}/hls/manifest.m3u8`);
    expect(await manifest.text()).toContain('TYPE=SUBTITLES');
  });

  test('go on after 429 and a broken connection, and send only what is missing', async () => {
    const { model, server } = chunked();
    const speak = answerSpeech('en');
    model.answer = (call, response, count) => {
      if (count === 2) answerError(429, 'Slow down', { 'retry-after': '1' })(call, response, count);
      else if (count === 3) response.destroy();
      else speak(call, response, count);
    };
    const videoId = await upload(server, speech, { transcript: true, language: 'en' });
    expect(await settled(server, videoId)).toMatchObject({ status: 'completed' });
    const sizes = model.calls.map(({ file }) => file.length);
    expect(sizes[2]).toBe(sizes[1]);
    expect(sizes[3]).toBe(sizes[1]);
    expect(await get(server, `/videos/${videoId}`)).toMatchObject({ languageOrigin: 'api' });
  });

  const failures: readonly (readonly [name: string, answer: FakeModel['answer'], reason: RegExp])[] = [
    ['a wrong key', answerError(401, 'no'), /refused the API key \(401\)/],
    [
      'a wrong request',
      answerError(400, 'Unknown model “x”\u0007'),
      /refused the request \(400\): “Unknown model “x”/,
    ],
    ['a redirect', answerError(302, '', { location: 'http://127.0.0.1:1/' }), /redirects \(302\)/],
    ['no JSON', (_, response) => response.end('<html>'), /JSON/],
    ['another answer', (_, response) => response.end('{"segments":1}'), /valid transcription/],
    ['an endless answer', answerEndlessly, /larger/],
    ['no speech', answerSpeech('en', ''), /No speech/],
  ];

  test('end with the reason, and begin again with another request', async () => {
    const { model, server } = whole(failures[0]![1]);
    const videoId = await upload(server, speech, { transcript: true });
    const requestAgain = async (answer: FakeModel['answer']) => {
      model.answer = answer;
      model.calls.length = 0;
      expect((await server.api('PATCH', `/videos/${videoId}`, { transcript: true })).status).toBe(200);
    };
    for (const [index, [name, answer, reason]] of failures.entries()) {
      if (index > 0) await requestAgain(answer);
      const { status, failure } = await settled(server, videoId);
      expect(status, name).toBe('failed');
      expect(failure, name).toMatch(reason);
      expect(model.calls, name).toHaveLength(1);
    }
    await requestAgain(answerSpeech());
    expect(await settled(server, videoId)).toMatchObject({ status: 'completed' });
  });

  test('are refused for a video without audio', async () => {
    const { model, server } = chunked();
    const videoId = await upload(server, silentVideo, { transcript: true });
    expect(await settled(server, videoId)).toMatchObject({
      status: 'failed',
      failure: 'The video has no audio.',
    });
    expect(model.calls).toEqual([]);
  });

  test('replace generated captions, but none that were uploaded or edited', async () => {
    const { model, server } = whole();
    const videoId = await upload(server, speech, { transcript: true });
    await settled(server, videoId);
    model.answer = answerSpeech('english', 'Other words.');
    await server.api('PATCH', `/videos/${videoId}`, { transcript: true });
    await settled(server, videoId);
    expect(await captionsOf(server, videoId, 'en')).toContain('Other words.');

    const form = new FormData();
    form.set('file', new File(['WEBVTT\n\n00:00.000 --> 00:01.000\nMine\n'], 'en.vtt'));
    const headers = { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` };
    const path = `${server.baseUrl}/videos/${videoId}/captions/en`;
    const edited = await fetch(path, { method: 'POST', headers, body: form });
    expect(await edited.json()).not.toHaveProperty('generated');
    await server.api('PATCH', `/videos/${videoId}`, { transcript: true });
    expect(await settled(server, videoId)).toMatchObject({
      status: 'failed',
      failure: /captions in this language/,
    });
    expect(await captionsOf(server, videoId, 'en')).toContain('Mine');
  });

  test('go on after the server was killed', async () => {
    const model = await startFakeModel();
    const speak = answerSpeech('en');
    // The second request hangs until the server is gone.
    model.answer = (call, response, count) => {
      if (count !== 2) speak(call, response, count);
    };
    const dataDir = await testTempDir();
    const settings = { MILLRACE_TRANSCRIPTION_URL: model.url, MILLRACE_TRANSCRIPTION_CHUNK: '10s' };
    const first = await VideoServer.start(dataDir, settings);
    first.leaveOutImages();
    onTestFinished(() => first.stop());
    const { videoId } = await first.create({ transcript: true });
    expect(await first.send(videoId, speech)).toBe(201);
    await waitUntil(async () => model.calls.length >= 2 || undefined, {
      timeoutMs: encodeTimeoutMs,
    });
    process.kill(first.pid, 'SIGKILL');
    await first.stop();
    const second = await VideoServer.start(dataDir, settings);
    onTestFinished(() => second.stop());
    const status = await waitUntil(
      async () => {
        const { transcript } = (await (await second.call('GET', `/videos/${videoId}/status`)).json()) as {
          transcript: { status: string };
        };
        return transcript.status === 'completed' ? transcript : undefined;
      },
      { timeoutMs: encodeTimeoutMs },
    );
    expect(status).toMatchObject({ language: 'en' });
    expect(model.calls[2]!.file.length).toBe(model.calls[1]!.file.length);
  });

  test('end when the video is deleted, and the request with them', async () => {
    const { model, server } = chunked(() => {});
    const videoId = await upload(server, speech, { transcript: true });
    const call = await waitUntil(async () => model.calls[0], { timeoutMs: encodeTimeoutMs });
    expect((await server.api('DELETE', `/videos/${videoId}?permanently=true`)).status).toBe(204);
    expect((await server.api('GET', `/videos/${videoId}`)).status).toBe(404);
    await call.closed;
  });

  test('end when the request is withdrawn, and can be requested again', async () => {
    const { model, server } = whole(() => {});
    const videoId = await upload(server, speech, { transcriptSummary: true });
    const call = await waitUntil(async () => model.calls[0], { timeoutMs: encodeTimeoutMs });
    expect((await server.api('PATCH', `/videos/${videoId}`, { transcript: false })).status).toBe(200);
    await call.closed;
    expect(await transcriptOf(server, videoId)).toEqual({ status: 'none', progress: 0 });
    expect((await get(server, `/summaries?videoId=${videoId}`)).data[0]).toMatchObject({
      sourceStatus: 'unprocessable',
      failure: /no captions/,
    });
    model.answer = answerSpeech();
    await server.api('PATCH', `/videos/${videoId}`, { transcript: true });
    expect(await settled(server, videoId)).toMatchObject({ status: 'completed' });
    // Nothing is left to withdraw.
    await server.api('PATCH', `/videos/${videoId}`, { transcript: false });
    expect(await transcriptOf(server, videoId)).toMatchObject({ status: 'completed' });
  });

  test('give a request up that takes too long, also one that is answered byte by byte', async () => {
    const model = await startFakeModel();
    const speak = answerSpeech('en');
    model.answer = (call, response, count) => {
      if (count > 1) return speak(call, response, count);
      const drip = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(drip));
    };
    const server = await start(model, { 'transcription.chunk': '60s', 'transcription.timeout': '1s' });
    const videoId = await upload(server, speech, { transcript: true });
    expect(await settled(server, videoId)).toMatchObject({ status: 'completed' });
    expect(model.calls).toHaveLength(2);
  });

  test('of another source start again, after work on the first one was removed', async () => {
    const { server } = chunked(answerSpeech('en'));
    const created = await server.api('POST', '/videos', { title: 'Harbour', transcript: true });
    const { videoId } = (await created.json()) as { videoId: string };
    const database = new Sqlite(join(server.dataDir, 'millrace.db'), { timeout: 5000 });
    database
      .prepare("UPDATE transcripts SET status = 'processing', progress_percent = 40 WHERE video_id = ?")
      .run(videoId);
    database.prepare("INSERT INTO transcript_parts VALUES (?, 0, 9000, 'en', '[]')").run(videoId);
    database.close();
    await sendSource(server, videoId, speech);
    expect(await settled(server, videoId)).toMatchObject({ status: 'completed' });
    expect(await captionsOf(server, videoId, 'en')).toContain('00:00:00.500 -->');
  });

  test('leave the API key out of logs and failures', async () => {
    const lines: string[] = [];
    const log = await createLogger({
      level: 'trace',
      pretty: false,
      sink: { write: line => lines.push(line) },
    });
    const model = await startFakeModel(answerError(400, 'Bearer key-of-the-model is wrong'));
    const server = await startServer(
      { 'transcription.url': model.url, 'transcription.apiKey': 'key-of-the-model' },
      { log, hasImages: false },
    );
    onTestFinished(() => server.stop());
    const videoId = await upload(server, speech, { transcript: true });
    const { failure } = await settled(server, videoId);
    expect(failure).toContain('Bearer … is wrong');
    expect(lines.join('')).toContain('transcript-failed');
    expect(lines.join('')).not.toContain('key-of-the-model');
  });

  test('are generated of recordings and imports by default, and not of clips', async () => {
    const model = await startFakeModel(answerSpeech('en'));
    const server = await start(model, { 'recording.enabled': 'true', 'live.stopGrace': '0s' });
    await server.api('PATCH', '/account/video-defaults', { transcript: true });
    const stream = await server.createStream('Pier');
    const publisher = publishTestPicture({ url: server.rtmpUrl(stream.streamKey), seconds: 4 });
    await publisher.exited;
    const recording = await waitUntil(
      async () => {
        const [video] = (await get(server, `/videos?liveStreamId=${stream.liveStreamId}`)).data;
        return video?.videoId as string | undefined;
      },
      { timeoutMs: encodeTimeoutMs, what: 'the recording' },
    );
    expect(await settled(server, recording)).toMatchObject({ status: 'completed', language: 'en' });

    const clipped = await server.api('POST', '/videos', {
      title: 'Clip',
      source: recording,
      clip: { startTimecode: '0', endTimecode: '2' },
    });
    const clip = (await clipped.json()) as { videoId: string };
    expect(clipped.status).toBe(202);
    expect((await transcriptOf(server, clip.videoId)).status).toBe('none');
    const copied = await server.api('POST', '/videos', { title: 'Copy', source: recording });
    const copy = (await copied.json()) as { videoId: string };
    expect(await settled(server, copy.videoId)).toMatchObject({ status: 'completed' });
  });
});

describe('generated summaries', () => {
  const content = JSON.stringify({ abstract: 'Boats leave.', takeaways: ['One', 'Two', 'Three', 'Four'] });

  test('are made of captions that are generated first, and announced', async () => {
    const speak = answerSpeech();
    const { model, server } = whole((call, response, count) =>
      (call.path === '/v1/chat/completions' ? answerSummary(`\`\`\`json\n${content}\n\`\`\``) : speak)(
        ...([call, response, count] as const),
      ),
    );
    const receiver = await startReceiver();
    await server.api('POST', '/webhooks', { events: ['video.summary.generated'], url: receiver.url });
    const videoId = await upload(server, speech, { transcriptSummary: true });
    const summary = await waitUntil(
      async () => {
        const [one] = (await get(server, `/summaries?videoId=${videoId}`)).data;
        return one.sourceStatus === 'completed' ? one : undefined;
      },
      { timeoutMs: encodeTimeoutMs },
    );
    expect(summary).toMatchObject({ origin: 'auto' });
    expect(await get(server, `/summaries/${summary.summaryId}/source`)).toEqual({
      abstract: 'Boats leave.',
      takeaways: ['One', 'Two', 'Three'],
    });
    const hook = await waitUntil(async () => receiver.hooks[0]);
    expect(hook.json).toMatchObject({
      type: 'video.summary.generated',
      videoId,
      summaryId: summary.summaryId,
    });
    const asked = JSON.parse(model.calls.at(-1)!.text);
    expect(asked.model).toBe('small');
    expect(asked.messages[1].content).toBe('Boats leave the harbour.');
    const again = await server.api('PATCH', `/videos/${videoId}`, { transcriptSummary: true });
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ name: 'transcriptSummary' });
  });

  test('fail when the answer is none, and cannot be made without speech', async () => {
    const model = await startFakeModel();
    const server = await start(model, { 'summary.model': 'small', 'transcription.chunk': '60s' });
    model.answer = (call, response, count) =>
      (call.path === '/v1/chat/completions' ? answerSummary('I cannot do that.') : answerSpeech())(
        ...([call, response, count] as const),
      );
    const statusOf = (videoId: string) =>
      waitUntil(
        async () => {
          const [one] = (await get(server, `/summaries?videoId=${videoId}`)).data;
          return one.sourceStatus === 'waiting' ? undefined : one.sourceStatus;
        },
        { timeoutMs: encodeTimeoutMs },
      );
    expect(await statusOf(await upload(server, speech, { transcriptSummary: true }))).toBe('failed');
    expect(await statusOf(await upload(server, silentVideo, { transcriptSummary: true }))).toBe(
      'unprocessable',
    );
    const failed = await get(server, '/summaries?sourceStatus=failed&origin=auto');
    expect(failed.pagination.itemsTotal).toBe(1);
    expect(failed.data[0].failure).toMatch(/isn’t a valid summary/);
    const [silent] = (await get(server, '/summaries?sourceStatus=unprocessable')).data;
    expect(silent.failure).toBe('The video has no audio.');
    expect((await get(server, '/summaries?sourceStatus=missing')).pagination.itemsTotal).toBe(0);
  });

  test('end when they are deleted, and the request with them', async () => {
    const { model, server } = whole((call, response, count) => {
      if (call.path !== '/v1/chat/completions') answerSpeech()(call, response, count);
    });
    const videoId = await upload(server, speech, { transcriptSummary: true });
    const call = await waitUntil(
      async () => model.calls.find(({ path }) => path === '/v1/chat/completions'),
      { timeoutMs: encodeTimeoutMs },
    );
    const [{ summaryId }] = (await get(server, `/summaries?videoId=${videoId}`)).data;
    expect((await server.api('DELETE', `/summaries/${summaryId}`)).status).toBe(204);
    await call.closed;
    model.answer = answerSummary(content);
    expect((await server.api('POST', '/summaries', { videoId, origin: 'auto' })).status).toBe(201);
    await waitUntil(
      async () => (await get(server, `/summaries?videoId=${videoId}`)).data[0].sourceStatus === 'completed',
      { timeoutMs: encodeTimeoutMs },
    );
  });
});
