import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

type Message = Record<string, unknown>;

let server: TestServer;
let socket: WebSocket;
const messages: Message[] = [];

beforeAll(async () => {
  server = await startServer({ 'recording.enabled': 'false' });
  socket = new WebSocket(`${server.baseUrl}/events`, { auth: `${server.productionKey}:` });
  socket.on('message', data => messages.push(JSON.parse(String(data))));
  await once(socket, 'open');
});

afterAll(async () => {
  socket?.terminate();
  await server?.stop();
});

const small = { size: '160x90', fps: 15 } as const;
const jumpTenSecondsEveryThree = "settb=1/1000,setpts='PTS+floor(T/3)*10/TB'";
/** Ten seconds are the least that is compared with, and the newest five are not among them. */
const blackAfter12s = "drawbox=enable='gte(t,12)':w=iw:h=ih:color=black:t=fill";
const fewerFramesAfter12s = "select='lt(t,12)+mod(n,3)'";

describe.concurrent('what an encoder does wrong', () => {
  test.each<[what: string, alarm: string, message: RegExp, picture: object]>([
    [
      'a keyframe every six seconds',
      'keyframes-too-far-apart',
      /Keyframes are [456][.\d]* s apart or more\. Set the keyframe interval to 2 s/,
      { gopSeconds: 6 },
    ],
    [
      'a picture that is refreshed gradually',
      'keyframes-too-far-apart',
      /^No keyframe \(IDR\) arrived for [4-7][.\d]* s: .* Turn off intra refresh/,
      { fps: 30, extraArgs: ['-x264-params', 'intra-refresh=1:keyint=60:bframes=0'] },
    ],
    [
      'sound that stops',
      'audio-missing',
      /^No audio has arrived for 5 s\./,
      { gopSeconds: 1, extraArgs: ['-af', 'atrim=end=3'] },
    ],
    [
      'a bitrate that collapses, with frames that are missing',
      'bitrate-collapsed',
      /^The bitrate fell to \d+ kbit\/s, from \d+ kbit\/s in the minute before\./,
      {
        gopSeconds: 1,
        extraArgs: [
          '-vf',
          `${blackAfter12s},${fewerFramesAfter12s}`,
          '-vsync',
          'passthrough',
          '-b:v',
          '2000k',
          '-b:a',
          '32k',
        ],
      },
    ],
    [
      'timestamps that jump',
      'timestamps-jumping',
      /^The timestamps of the stream jumped 3 times within a minute\./,
      { gopSeconds: 1, extraArgs: ['-an', '-vf', jumpTenSecondsEveryThree, '-vsync', 'passthrough'] },
    ],
  ])('%s is told as %s, once, and shown', async (_, alarm, message, picture) => {
    const { liveStreamId, streamKey } = await server.createStream();
    await using publisher = publishTestPicture({ url: server.rtmpUrl(streamKey), ...small, ...picture });
    const raised = () =>
      messages.filter(
        one =>
          one.type === 'live-stream.alarm.raised' && one.liveStreamId === liveStreamId && one.alarm === alarm,
      );
    await waitUntil(() => raised().length > 0, {
      what: () => `${alarm}; ${publisher.stderr}`,
    });
    expect(raised()[0]).toMatchObject({
      eventId: expect.any(String),
      liveStreamId,
      alarm,
      message: expect.stringMatching(message),
    });
    const answer = await server.api('GET', `/live-streams/${liveStreamId}/health`);
    const health = (await answer.json()) as { alarms: Message[] };
    expect(health).toMatchObject({ broadcasting: true, state: 'live', protocol: 'rtmp', width: 160 });
    expect(health.alarms).toContainEqual({
      alarm,
      message: raised()[0]!.message,
      raisedAt: expect.stringMatching(/\+00:00$/),
    });
    expect(raised()).toHaveLength(1);
    await publisher.stop();
    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
  });
});

test.concurrent('a publisher that is lost again and again is told of, and its broadcast is one', async () => {
  const { liveStreamId, streamKey } = await server.createStream();
  const health = async () =>
    (await (await server.api('GET', `/live-streams/${liveStreamId}/health`)).json()) as Message;
  for (let losses = 0; losses < 3; losses += 1) {
    await using publisher = publishTestPicture({ url: server.rtmpUrl(streamKey), ...small, gopSeconds: 1 });
    await waitUntil(async () => (await health()).state === 'live');
    await publisher.kill();
    await waitUntil(async () => (await health()).state === 'waiting');
  }
  const ofStream = (type: string) =>
    messages.filter(one => one.type === type && one.liveStreamId === liveStreamId);
  await waitUntil(() => ofStream('live-stream.alarm.raised').length === 1);
  expect(ofStream('live-stream.alarm.raised')[0]).toMatchObject({ alarm: 'frequent-reconnects' });
  expect(await health()).toMatchObject({ droppedConnections: 3, lastDroppedAt: expect.any(String) });
  await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
  await waitUntil(() => ofStream('live-stream.broadcast.ended').length > 0);
  expect(ofStream('live-stream.broadcast.started')).toHaveLength(1);
  expect(ofStream('live-stream.alarm.cleared')).toEqual([]);
  const list = await server.api('GET', `/live-streams/${liveStreamId}/broadcasts`);
  const { data } = (await list.json()) as { data: Message[] };
  expect(data).toMatchObject([{ state: 'ended', endReason: 'completed', droppedConnections: 3 }]);
});
