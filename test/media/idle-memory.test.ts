import { expect, it } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { ffmpegPath, startPublisher } from '../support/ffmpeg.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const mebibyte = 1024 * 1024;
/** Ended broadcasts are in memory for a minute. */
const timeoutMs = 240_000;
const heldBytes = () => process.memoryUsage().arrayBuffers;

/** Pictures that no encoder makes small: about a megabyte a second. */
function publishNoise(url: string) {
  return startPublisher(ffmpegPath, [
    ...['-re', '-f', 'lavfi', '-i', 'color=gray:size=320x240:rate=25,noise=alls=80:allf=t'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', '50', '-keyint_min', '50', '-qp', '20', '-f', 'flv', url],
  ]);
}

async function bytesOf(url: URL | string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Fetches all that is listed and not gone meanwhile, as several viewers who go back do. */
async function watch(baseUrl: string, liveStreamId: string): Promise<number> {
  const multivariant = new URL(`/${liveStreamId}.m3u8`, baseUrl);
  const { variants } = parseMultivariantPlaylist((await bytesOf(multivariant)).toString());
  const mediaUrl = new URL(variants[0]!.uri, multivariant);
  const { segments } = parseMediaPlaylist((await bytesOf(mediaUrl)).toString());
  const uris = segments.flatMap(({ uri, parts }) => [uri, ...parts.map(part => part.uri)]);
  let bytes = 0;
  for (const uri of uris) {
    const bodies = Array.from({ length: 4 }, async () => {
      const answer = await fetch(new URL(uri, mediaUrl));
      return answer.ok ? (await answer.arrayBuffer()).byteLength : 0;
    });
    bytes += (await Promise.all(bodies)).reduce((sum, length) => sum + length, 0);
  }
  return bytes;
}

it('holds no media of broadcasts and viewers that have left', async () => {
  // Three times in vain are enough, and must take longer than a minute.
  await using server = await startServer({}, { idleMemoryEveryMs: 30_000 });
  await fetch(`${server.baseUrl}/health/live`);
  const before = heldBytes();
  const streams = [await server.createStream(), await server.createStream()];
  const publishers = streams.map(({ streamKey }) => publishNoise(server.rtmpUrl(streamKey)));
  let peak = 0;
  for (const { liveStreamId } of streams) {
    let watched = 0;
    await waitUntil(
      async () => {
        watched += await watch(server.baseUrl, liveStreamId);
        peak = Math.max(peak, heldBytes());
        return watched > 100 * mebibyte;
      },
      { what: () => `enough media: ${Math.round(watched / mebibyte)} MiB`, timeoutMs, everyMs: 500 },
    );
  }
  for (const publisher of publishers) await publisher.stop();
  for (const { liveStreamId } of streams) await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
  expect(peak - before).toBeGreaterThan(20 * mebibyte);
  await waitUntil(() => heldBytes() - before < 4 * mebibyte, {
    timeoutMs,
    everyMs: 500,
    what: () => `buffers to be released: ${Math.round((heldBytes() - before) / mebibyte)} MiB are held`,
  });
});
