import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { PrivateTokens } from '../../src/resources/playback/private-sessions/private-tokens.store.ts';
import { ForwardedClips, forwardClip } from '../../src/resources/videos/uploads/forwarded-clips.ts';
import type { Video, VideoAttributes } from '../../src/resources/videos/videos/video.ts';
import { AppError } from '../../src/shared/errors.ts';
import type { SignalingRequest } from '../../src/shared/network/signaling.ts';

const liveStreamId = `li${'a'.repeat(22)}`;

/** A server that creates clips, with what another server of its database sent to it. */
async function startPair() {
  const time = { nowMs: Date.UTC(2026, 5, 1) };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  const tokens = new PrivateTokens(Buffer.alloc(32, 7), clock);
  const created: VideoAttributes[] = [];
  const videos = {
    createHere: async (_projectId: string, _source: string, attributes: VideoAttributes) => {
      created.push(attributes);
      return { videoId: `vi${created.length}` } as Video;
    },
  };
  const start = () => new ForwardedClips(tokens, videos, clock);
  const sent: SignalingRequest[] = [];
  const receiver = { endpoint: start() };
  const server = createServer(async (incoming, answer) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    const { authorization, 'content-type': contentType } = incoming.headers;
    const request = { method: 'POST', path: incoming.url!, body, authorization, contentType };
    sent.push(request as unknown as SignalingRequest);
    const response = await receiver.endpoint.handle(sent.at(-1)!);
    answer.writeHead(response.status).end(response.body);
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const forward = () =>
    forwardClip(tokens, { serverUrl, liveStreamId }, { projectId: 'pr1', attributes: { title: 'Goal' } });
  return { time, created, sent, receiver, start, forward, stop: () => server.close() };
}

const refused = async (answer: Promise<unknown>) => {
  const error = await answer.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(AppError);
  return (error as AppError).code;
};

it('a request of another server creates one video, however often it is repeated', async () => {
  const pair = await startPair();
  expect(await pair.forward()).toBe('vi1');
  const replay = () => pair.receiver.endpoint.handle(pair.sent[0]!);
  expect(await refused(replay())).toBe('resource-not-found');
  // The same clip is requested again with another token.
  expect(await pair.forward()).toBe('vi2');
  for (const seconds of [1, 59, 59, 1, 60, 600]) {
    pair.time.nowMs += seconds * 1_000;
    expect(await refused(replay())).toBe('resource-not-found');
  }
  expect(pair.created).toHaveLength(2);
  pair.stop();
});

it('a request from before the start of the server is not repeated after it', async () => {
  const pair = await startPair();
  await pair.forward();
  pair.time.nowMs += 5_000;
  pair.receiver.endpoint = pair.start();
  expect(await refused(pair.receiver.endpoint.handle(pair.sent[0]!))).toBe('resource-not-found');
  expect(await pair.forward()).toBe('vi2');
  pair.stop();
});
