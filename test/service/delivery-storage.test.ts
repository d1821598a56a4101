import { describe, expect, it } from 'vitest';
import type { DeliveryOptions } from '../../src/delivery/delivery.ts';
import { AppError } from '../../src/shared/errors.ts';
import { openWithin } from '../../src/shared/files/open-within.ts';
import type { OpenFile } from '../../src/shared/files/opened-file.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { FolderVideos, videoId } from '../support/vod-fixture.ts';
import { waitUntil } from '../support/wait-until.ts';
import { localFiles, type Protocol, protocols, startDelivery } from './delivery-fixture.ts';

const base = `/vod/${videoId}`;
const mp4 = `${base}/mp4/source.mp4`;
const kilobyte = 1024;

type Fault = 'hangs' | 'fails' | 'cut after 256 KiB';

/** Storage with faults of its own for the paths that end in `mp4`. */
class FaultyStorage {
  fault: Fault | undefined;
  openFiles = 0;

  readonly open: OpenFile = async path => {
    const isAffected = () => path.endsWith('mp4') && this.fault !== undefined;
    if (isAffected() && this.fault === 'fails') throw new AppError('storage-unavailable');
    const file = await localFiles.open(path);
    this.openFiles += 1;
    const { promise: isClosed, reject } = Promise.withResolvers<never>();
    isClosed.catch(() => {});
    let isOpen = true;
    return {
      read: (into, offset, length, position) => {
        if (!isAffected() || (this.fault !== 'hangs' && position < 256 * kilobyte)) {
          return file.read(into, offset, length, position);
        }
        if (this.fault === 'hangs') return isClosed;
        return Promise.reject(new AppError('storage-unavailable'));
      },
      close: async () => {
        if (isOpen) this.openFiles -= 1;
        isOpen = false;
        reject(new Error('closed'));
        await file.close();
      },
    };
  };
}

async function started(protocol: Protocol, maxWaitMs: number) {
  const videos = new FolderVideos(await testTempDir());
  const storage = new FaultyStorage();
  const options: Partial<DeliveryOptions> = {
    vod: videos,
    storage: { ...localFiles, open: openWithin(maxWaitMs, storage.open) },
  };
  return Object.assign(await startDelivery(protocol, options), { videos, storage });
}

describe.each(protocols)('files in storage over %s', protocol => {
  it('answers 503 with Retry-After while the storage fails or hangs, and goes on for other files', async () => {
    await using server = await started(protocol, 1_000);
    await server.videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
    await server.videos.giveFile(videoId, 'storyboard.jpg', 'tiles', 'image/jpeg');
    for (const fault of ['fails', 'hangs'] as const) {
      server.storage.fault = fault;
      // The third request is for a body that is asked for again, which is read into memory.
      for (let request = 0; request < 3; request += 1) {
        const [away, other] = await Promise.all([server.ask(mp4), server.ask(`${base}/storyboard.jpg`)]);
        expect([away.status, away.headers['retry-after'], away.headers['cache-control']]).toEqual([
          503,
          '2',
          'no-store',
        ]);
        expect([other.status, other.body.toString()]).toEqual([200, 'tiles']);
      }
    }
    server.storage.fault = undefined;
    expect((await server.ask(mp4)).body.toString()).toBe('film');
    await waitUntil(() => server.storage.openFiles === 0);
    expect(server.errors).toEqual([]);
  });

  it('never completes a body that is cut in the middle', async () => {
    await using server = await started(protocol, 120_000);
    const film = Buffer.alloc(2048 * kilobyte, 1);
    await server.videos.giveFile(videoId, 'mp4', film, 'video/mp4');
    server.storage.fault = 'cut after 256 KiB';
    const answer = await server.ask(mp4).catch(() => undefined);
    expect(answer?.body.length ?? 0).toBeLessThan(film.length);
    // Node's HTTP/2 client takes a stream that the server gave up for one that ended.
    expect(answer === undefined).toBe(protocol !== 'HTTP/2');
    await waitUntil(() => server.storage.openFiles === 0);
    expect((await server.ask(mp4, { range: 'bytes=0-9' })).body.length).toBe(10);
  });

  it('gives up what a viewer who has left was waiting for', async () => {
    await using server = await started(protocol, 120_000);
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(2048 * kilobyte), 'video/mp4');
    server.storage.fault = 'hangs';
    const abort = new AbortController();
    const asked = server.ask(mp4, {}, 'GET', abort.signal).catch(() => {});
    await waitUntil(() => server.storage.openFiles === 1);
    abort.abort();
    await asked;
    await waitUntil(() => server.storage.openFiles === 0);
    expect(server.errors).toEqual([]);
  });
});
