import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsOf, runSql } from '../support/sql.ts';
import { sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { usualKind } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const dayMs = 24 * 3_600_000;
let nowMs = Date.UTC(2026, 2, 4);

let server: TestApi;
let removed: string[] = [];
let faults = new Map<string, Error>();
let afterRemoval = () => {};
beforeAll(async () => {
  server = await startApi({
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    videos: {
      restoreDays: () => 90,
      async removed(videoId) {
        const fault = faults.get(videoId);
        if (fault !== undefined) throw fault;
        removed.push(videoId);
        afterRemoval();
      },
    },
  });
});
beforeEach(async () => {
  removed = [];
  faults = new Map();
  afterRemoval = () => {};
  await runSql(server.database, 'DELETE FROM videos');
  await runSql(server.database, 'DELETE FROM removed_videos');
});
afterAll(() => server.stop());

const create = async (): Promise<string> =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json.videoId;
const upload = (videoId: string, range?: string) => {
  const body = new FormData();
  body.set('file', new File([new Uint8Array(5_242_880)], 'a.mp4'));
  return server.call('POST', `/videos/${videoId}/source`, {
    body,
    headers: range === undefined ? undefined : { 'content-range': range },
  });
};
const field = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
/** Sends a file, and stops in the middle of it. */
const send = (path: string, fieldsBefore: string) => {
  const outgoing = request(server.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=b',
      ...(path.startsWith('/upload?') ? {} : { authorization: `Basic ${btoa(`${sandboxKey}:`)}` }),
    },
  });
  const status = new Promise<number | undefined>(resolve => {
    outgoing.on('response', response => resolve(response.resume().statusCode));
    outgoing.on('error', () => resolve(undefined));
  });
  const head = 'content-disposition: form-data; name="file"; filename="a.mp4"';
  outgoing.write(`${fieldsBefore}--b\r\n${head}\r\n\r\nnot a film, `);
  return {
    status,
    finish: () => void outgoing.end('but a file\r\n--b--\r\n'),
    giveUp: () => void outgoing.destroy(),
  };
};
const statusOf = async (videoId: string) => (await server.call('GET', `/videos/${videoId}`)).status;
const inDays = (days: number, work: () => Promise<void>): Promise<void> => {
  nowMs += days * dayMs;
  return work().finally(() => {
    nowMs -= days * dayMs;
  });
};
const addSource = (videoId: string, status: string) =>
  runSql(
    server.database,
    "INSERT INTO video_sources (video_id, origin, status, started_at_ms) VALUES (?, 'url', ?, 1)",
    videoId,
    status,
  );
const waiting = async () => {
  const rows = await rowsOf<{ video_id: string }>(server.database, 'SELECT video_id FROM empty_videos');
  return rows.map(row => row.video_id);
};

describe('a video that nothing came into', () => {
  it('is removed seven days after it was made, and not before', async () => {
    const videoId = await create();
    await inDays(6.99, async () => {
      expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(0);
      expect(await statusOf(videoId)).toBe(200);
    });
    await inDays(7, async () => {
      expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(1);
      expect(await statusOf(videoId)).toBe(404);
    });
    expect(removed).toEqual([videoId]);
    expect(await waiting()).toEqual([]);
  });

  it('stays where a first piece came, a source is fetched, or fetching it failed', async () => {
    const begun = await create();
    expect((await upload(begun, 'part 1/3')).status).toBe(201);
    const fetched = await create();
    await addSource(fetched, 'failed');
    expect(await waiting()).toEqual([]);
    await inDays(8, async () => expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(0));
    expect([await statusOf(begun), await statusOf(fetched)]).toEqual([200, 200]);
  });

  it('stays while its file is being received, and goes when that is given up', async () => {
    const receiving = (videoId: string) => server.api.quotas.isReceiving(videoId);
    const [named, delegated] = [await create(), await create()];
    const { token } = (await server.call('POST', '/upload-tokens', { body: {} })).json;
    const sending = [
      send(`/videos/${named}/source`, ''),
      send(`/upload?token=${token}`, field('videoId', delegated)),
    ];
    await waitUntil(async () => (await receiving(named)) && (await receiving(delegated)));
    await inDays(8, async () => expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(0));
    sending[0]!.finish();
    sending[1]!.giveUp();
    expect(await sending[0]!.status).toBe(201);
    await waitUntil(async () => !(await receiving(named)) && !(await receiving(delegated)));
    await inDays(8, async () => expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(1));
    expect([await statusOf(named), await statusOf(delegated)]).toEqual([200, 404]);
  });

  it.runIf(usualKind === 'SQLite')('stays when its file begins to arrive after the search', async () => {
    const videoId = await create();
    await inDays(8, async () => {
      const removing = server.api.videos.removal.removeEmpty(nowMs);
      const headers = { contentRange: undefined, contentLength: 10 };
      const admission = await server.api.uploads.service.admit('the project', videoId, headers);
      expect(await removing).toBe(0);
      await admission.onFinished?.();
    });
    expect(await statusOf(videoId)).toBe(200);
  });

  it('keeps the time of the trash while it is in there, and is empty again when it is restored', async () => {
    const videoId = await create();
    await server.call('DELETE', `/videos/${videoId}`);
    expect(await waiting()).toEqual([]);
    await inDays(8, async () => {
      expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(0);
      await server.call('PATCH', `/discarded/videos/${videoId}`, { body: { discarded: false } });
      expect(await statusOf(videoId)).toBe(200);
      expect(await server.api.videos.removal.removeEmpty(nowMs)).toBe(1);
    });
  });

  it.runIf(usualKind === 'SQLite')(
    'stays when its source begins while others are being removed',
    async () => {
      const [first, second] = [await create(), await create()].sort();
      faults.set(first!, new Error('the disk is gone'));
      await inDays(8, async () => {
        const removing = server.api.videos.removal.removeEmpty(nowMs);
        // The files of the first are being removed, the second was found already.
        await addSource(second!, 'uploading');
        await expect(removing).rejects.toBe(faults.get(first!));
        expect([await statusOf(first!), await statusOf(second!)]).toEqual([404, 200]);
      });
    },
  );

  it('does not hold up the others when its files cannot be removed', async () => {
    const ids = (await Promise.all([create(), create(), create()])).sort();
    faults.set(ids[1]!, new Error('the disk is gone'));
    await inDays(8, async () => {
      await expect(server.api.videos.removal.removeEmpty(nowMs)).rejects.toThrow('the disk is gone');
    });
    expect(removed.sort()).toEqual([ids[0], ids[2]]);
    await expect(server.api.videos.removal.removeOrphanedFiles()).rejects.toThrow('the disk is gone');
    faults.clear();
    expect(await server.api.videos.removal.removeOrphanedFiles()).toBe(1);
  });

  it('leaves the rest for another time when the server stops', async () => {
    await Promise.all([create(), create(), create()]);
    const stopping = new AbortController();
    await inDays(8, async () => {
      afterRemoval = () => stopping.abort();
      expect(await server.api.videos.removal.removeEmpty(nowMs, stopping.signal)).toBe(1);
    });
    expect(await waiting()).toHaveLength(2);
  });

  it.runIf(usualKind === 'SQLite')('is found without looking at any other video', async () => {
    const plan = async (sql: string) => {
      const steps = await rowsOf<{ detail: string }>(server.database, `EXPLAIN QUERY PLAN ${sql}`);
      return steps.map(({ detail }) => detail);
    };
    expect(
      await plan(
        'SELECT video_id FROM empty_videos WHERE created_at_ms <= 5 ORDER BY created_at_ms, video_id LIMIT 9',
      ),
    ).toEqual(['SEARCH empty_videos USING PRIMARY KEY (created_at_ms<?)']);
  });
});
