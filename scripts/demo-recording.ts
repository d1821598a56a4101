import { setTimeout as sleep } from 'node:timers/promises';
import { basicAuthorization, type ServerProcess } from './server-process.ts';

const playableWithinMs = 20_000;
const pollMs = 50;

/**
 * Ends the broadcast of a live stream, and tells how soon after that it is a video that can be played.
 *
 * @throws Error when it is none in time
 */
export async function showRecording(server: ServerProcess, liveStreamId: string): Promise<void> {
  const ask = async <Answer>(method: string, path: string): Promise<Answer | undefined> => {
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const answer = await fetch(server.baseUrl + path, { method, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as Answer);
  };
  await ask('PUT', `/live-streams/${liveStreamId}/complete`);
  const endedAtMs = performance.now();
  for (;;) {
    const list = await ask<{ data: { videoId: string }[] }>('GET', `/videos?liveStreamId=${liveStreamId}`);
    const videoId = list?.data[0]?.videoId;
    const sinceMs = performance.now() - endedAtMs;
    if (videoId !== undefined) {
      const status = await ask<{ encoding: { playable: boolean; metadata?: { duration?: number } } }>(
        'GET',
        `/videos/${videoId}/status`,
      );
      if (status?.encoding.playable === true) {
        const duration = status.encoding.metadata?.duration;
        const length = duration === undefined ? '' : ` of ${duration} s`;
        console.log(
          `The broadcast is a video${length}: it could be played ${(sinceMs / 1000).toFixed(1)} s after the end.`,
        );
        return;
      }
    }
    if (sinceMs > playableWithinMs) {
      throw new Error(
        `The broadcast is no video that can be played ${playableWithinMs / 1000} s after its end.`,
      );
    }
    await sleep(pollMs);
  }
}
