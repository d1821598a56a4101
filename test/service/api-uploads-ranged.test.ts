import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SweepStore } from '../../src/operations/housekeeping/sweep.store.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { runSql } from '../support/sql.ts';
import { type ApiReply, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, digestOfFile, noise, UploadsOfTest } from './upload-fixture.ts';

let server: TestApi;
const ready: string[] = [];
const failed: [videoId: string, reason: string][] = [];
/** Videos whose encoding failed. */
const unusable = new Set<string>();
const uploads = new UploadsOfTest(() => server);
beforeAll(async () => {
  server = await startApi({
    uploads: {
      sourceReady: async videoId => void ready.push(videoId),
      sourceFailed: async (videoId, reason) => void failed.push([videoId, reason]),
      hasEncodingFailed: async videoId => unusable.has(videoId),
      sourceReplaced: async videoId => void unusable.delete(videoId),
    },
  });
});
afterAll(() => server.stop());

const whole = noise(2 * chunkBytes + 1_000);
const pieces = [
  whole.subarray(0, chunkBytes),
  whole.subarray(chunkBytes, 2 * chunkBytes),
  whole.subarray(2 * chunkBytes),
] as const;
const byteRange = (index: number, total: number | '*' = whole.length) => {
  const first = index * chunkBytes;
  return `bytes ${first}-${first + pieces[index]!.length - 1}/${total}`;
};

function expectRefusal(answer: ApiReply, code: string): void {
  expect(answer.status).toBe(400);
  expect(answer.json).toMatchObject({ type: expect.stringMatching(new RegExp(`/${code}$`)), name: 'file' });
}

async function expectAssembled(videoId: string, bytes = whole): Promise<void> {
  expect(await uploads.ingest(videoId)).toMatchObject({ status: 'uploaded', filesize: bytes.length });
  await waitUntil(() => ready.includes(videoId));
  expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  expect(ready.filter(id => id === videoId)).toEqual([videoId]);
  await waitUntil(async () => (await uploads.leftovers()).every(name => !name.includes(videoId)));
}

describe('an upload by part', () => {
  it('is joined when all parts are there, in whatever order they came', async () => {
    const videoId = await uploads.video({ title: 'In parts' });
    expect((await uploads.send(videoId, pieces[2], 'part 3/3')).json).toMatchObject({
      videoId,
      title: 'In parts',
    });
    expect(await uploads.ingest(videoId)).toEqual({
      status: 'uploading',
      filesize: null,
      receivedBytes: [],
      receivedParts: { parts: [3], total: 3 },
    });
    expect((await uploads.send(videoId, pieces[0], 'part%201%2F3')).status).toBe(201);
    expect((await uploads.send(videoId, pieces[1], 'part 2/3')).status).toBe(201);
    await expectAssembled(videoId);
    expect((await uploads.ingest(videoId))?.receivedParts).toEqual({ parts: [1, 2, 3], total: 3 });
  });

  it('need not know how many there will be', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], 'part 1/*');
    expect((await uploads.ingest(videoId))?.receivedParts).toEqual({ parts: [1], total: null });
    await uploads.send(videoId, pieces[1], 'part 2/*');
    await uploads.send(videoId, pieces[2], 'part 3/3');
    await expectAssembled(videoId);
  });

  it('can be one part', async () => {
    const videoId = await uploads.video();
    expect((await uploads.send(videoId, pieces[2], 'part 1/1')).status).toBe(201);
    expect(await uploads.ingest(videoId)).toMatchObject({
      status: 'uploaded',
      receivedParts: { parts: [1], total: 1 },
    });
    await expectAssembled(videoId, pieces[2]);
  });

  it('can come all at once, each part twice', async () => {
    const videoId = await uploads.video();
    const order = [1, 0, 2, 2, 1, 0];
    const answers = await Promise.all(
      order.map(index => uploads.send(videoId, pieces[index]!, `part ${index + 1}/3`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(order.map(() => 201));
    await expectAssembled(videoId);
    // The answer to the last part may have been lost.
    expect((await uploads.send(videoId, pieces[2], 'part 3/3')).status).toBe(201);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(whole));
  });

  it('takes no second upload once its last part was answered, whether they are joined or not', async () => {
    const videoId = await uploads.video();
    for (const [index, bytes] of pieces.entries()) {
      expect((await uploads.send(videoId, bytes, `part ${index + 1}/3`)).status).toBe(201);
    }
    const { json } = await server.call('GET', `/videos/${videoId}/status`);
    expect(json.ingest).toMatchObject({ status: 'uploaded', filesize: whole.length });
    const code = 'video-source-already-uploaded';
    for (const bytes of [pieces[0], pieces[1]]) {
      expectRefusal(await uploads.send(videoId, bytes, 'part 1/3'), code);
      expectRefusal(await uploads.send(videoId, bytes), code);
    }
    await expectAssembled(videoId);
    expectRefusal(await uploads.send(videoId, pieces[0], 'part 1/3'), code);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(whole));
  });

  it('can be copied as soon as its last part was answered', async () => {
    const from = await uploads.video();
    for (const [index, bytes] of pieces.entries()) await uploads.send(from, bytes, `part ${index + 1}/3`);
    const videoId = await uploads.video({ source: from });
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(whole));
  });

  it('keeps the part that came first', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], 'part 1/3');
    expect((await uploads.send(videoId, pieces[0], 'part 1/3')).status).toBe(201);
    expectRefusal(
      await uploads.send(videoId, pieces[1], 'part 1/3'),
      'video-content-range-by-part-part-already-sent',
    );
    await uploads.send(videoId, pieces[1], 'part 2/3');
    await uploads.send(videoId, pieces[2], 'part 3/3');
    await expectAssembled(videoId);
  });

  it('is refused where it does not fit what was sent', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], 'part 2/*');
    const send = (range: string, bytes: Buffer = pieces[0]) => uploads.send(videoId, bytes, range);
    expectRefusal(await send('part 1/2'), 'video-content-range-by-part-total-parts-too-low');
    expectRefusal(await send('bytes 0-9/10', noise(10)), 'video-content-range-started-with-part');
    expectRefusal(await send('part 1/3', pieces[2]), 'video-content-range-by-part-uploaded-file-too-small');
    expectRefusal(await uploads.send(videoId, noise(10)), 'video-content-range-already-initiated');
    expect((await send('part 1/3')).status).toBe(201);
    expectRefusal(await send('part 3/4'), 'video-content-range-by-part-different-total-parts');
    expectRefusal(await send('part 4/*'), 'video-content-range-by-part-part-too-high-total');
  });
});

describe('an upload by bytes', () => {
  it('is joined when all bytes are there', async () => {
    const videoId = await uploads.video();
    for (const index of [1, 2, 0]) {
      expect((await uploads.send(videoId, pieces[index]!, byteRange(index))).status).toBe(201);
    }
    await expectAssembled(videoId);
    expect((await uploads.ingest(videoId))?.receivedBytes).toEqual([
      { from: 0, to: chunkBytes - 1, total: whole.length },
      { from: chunkBytes, to: 2 * chunkBytes - 1, total: whole.length },
      { from: 2 * chunkBytes, to: whole.length - 1, total: whole.length },
    ]);
    expect(await uploads.ingest(videoId)).not.toHaveProperty('receivedParts');
  });

  it('can leave the total out until the end', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], byteRange(0, '*'));
    await uploads.send(videoId, pieces[1], byteRange(1, '*'));
    await uploads.send(videoId, pieces[2], byteRange(2));
    await expectAssembled(videoId);
  });

  it('is refused where it does not fit what was sent', async () => {
    const videoId = await uploads.video();
    const send = (range: string, bytes: Buffer = pieces[0]) => uploads.send(videoId, bytes, range);
    expectRefusal(
      await send(byteRange(0), noise(chunkBytes - 1)),
      'video-content-range-by-bytes-range-mismatch',
    );
    expectRefusal(
      await send(byteRange(0), noise(chunkBytes + 1)),
      'video-content-range-by-bytes-range-mismatch',
    );
    expect(await uploads.ingest(videoId)).toBeUndefined();
    expect((await send(byteRange(0, '*'))).status).toBe(201);
    const overlapping = `bytes 100-${chunkBytes + 99}/${whole.length}`;
    expectRefusal(await send(overlapping), 'video-content-range-by-bytes-range-overlap');
    expectRefusal(await send(byteRange(0), pieces[1]), 'video-content-range-by-bytes-range-overlap');
    expectRefusal(
      await send(`bytes 0-99/${chunkBytes - 1}`, noise(100)),
      'video-content-range-by-bytes-total-bytes-too-low',
    );
    expectRefusal(await send('part 1/2'), 'video-content-range-started-with-bytes');
    expectRefusal(await uploads.send(videoId, noise(10)), 'video-content-range-already-initiated');
    expect((await send(byteRange(1), pieces[1])).status).toBe(201);
    expectRefusal(
      await send(byteRange(2, whole.length + 1), pieces[2]),
      'video-content-range-by-bytes-different-total-bytes',
    );
    const beyond = `bytes ${whole.length}-${whole.length + chunkBytes - 1}/*`;
    expectRefusal(await send(beyond), 'video-content-range-by-bytes-to-byte-too-high-total');
  });
});

describe('an upload to a video whose encoding failed', () => {
  it.each([
    ['in one piece', undefined],
    ['in parts', 'part 1/3'],
    ['by bytes', byteRange(0)],
  ])('takes the place of its source: %s', async (_how, range) => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[2], 'part 1/1');
    unusable.add(videoId);
    expect((await uploads.send(videoId, pieces[0], range)).status).toBe(201);
    expect(unusable).not.toContain(videoId);
    expect((await uploads.ingest(videoId))?.status).toBe(range === undefined ? 'uploaded' : 'uploading');
    if (range === undefined)
      expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(pieces[0]));
    else if (range.startsWith('part'))
      expect((await uploads.ingest(videoId))?.receivedParts?.parts).toEqual([1]);
    else expect((await uploads.ingest(videoId))?.receivedBytes).toHaveLength(1);
  });
});

describe('a ranged upload', () => {
  it('of a video that is deleted meanwhile leaves nothing', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], 'part 1/3');
    await server.call('DELETE', `/videos/${videoId}`);
    await new MediaFiles(server.dataDir).removeVideo(videoId);
    expect((await uploads.send(videoId, pieces[1], 'part 2/3')).status).toBe(404);
    expect((await uploads.leftovers()).filter(name => name.includes(videoId))).toEqual([]);
    expect(await uploads.ingest(videoId)).toBeUndefined();
  });

  it('that is not complete after 168 hours fails, and can begin anew', async () => {
    const videoId = await uploads.video();
    const { service } = server.api.uploads;
    await uploads.send(videoId, pieces[0], 'part 1/3');
    const hour = 3_600_000;
    await service.failExpired(Date.now() + 167 * hour);
    expect((await uploads.ingest(videoId))?.receivedParts).toEqual({ parts: [1], total: 3 });
    await service.failExpired(Date.now() + 169 * hour);
    expect(await uploads.ingest(videoId)).toMatchObject({ status: 'failed', receivedParts: { parts: [] } });
    expect(failed).toContainEqual([
      videoId,
      'The upload was not complete after 168 hours. Upload the file again.',
    ]);
    expect((await uploads.leftovers()).filter(name => name.includes(videoId))).toEqual([]);
    expect((await uploads.send(videoId, pieces[2], 'bytes 0-999/1000')).status).toBe(201);
    await expectAssembled(videoId, pieces[2]);
  });

  it('that has only to be put together is not given up, however long the server was off; nor is a recording', async () => {
    const [joined, recorded, lost] = [await uploads.video(), await uploads.video(), await uploads.video()];
    const add = async (videoId: string, origin: string, status: string, job: string) => {
      await runSql(
        server.database,
        'INSERT INTO video_sources (video_id, origin, status, started_at_ms) VALUES (?, ?, ?, 1)',
        ...[videoId, origin, status],
      );
      await runSql(
        server.database,
        `INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, created_at_ms)
         VALUES (?, 'none', ?, 'null', 0, 'waiting', 1, 1)`,
        ...[job, videoId],
      );
    };
    await add(joined, 'upload', 'assembling', 'assemble');
    await add(recorded, 'recording', 'ingesting', 'join');
    await add(lost, 'url', 'ingesting', 'fetch');
    expect(await server.api.uploads.service.failExpired(Date.now())).toBe(1);
    const failures = [joined, recorded, lost].map(id => server.api.uploads.service.failureOf(id));
    expect(await Promise.all(failures)).toEqual([undefined, undefined, expect.any(String)]);
  });

  it('whose pieces could not be joined keeps them, and is joined when it is retried', async () => {
    const videoId = await uploads.video();
    const retry = () => server.call('POST', `/videos/${videoId}/retry`);
    expect((await retry()).json).toMatchObject({
      status: 409,
      type: expect.stringMatching('nothing-to-retry'),
    });
    await uploads.send(videoId, pieces[0], 'part 1/3');
    await uploads.send(videoId, pieces[1], 'part 2/3');
    const first = join(server.dataDir, 'uploads', videoId, '1');
    await rename(first, `${first}.aside`);
    await uploads.send(videoId, pieces[2], 'part 3/3');
    const assembling = server.api.uploads.jobKinds.find(({ kind }) => kind === 'assemble')!;
    await server.database.transaction(async transaction => {
      await transaction.run(transaction.queries.deleteFrom('jobs').where('subject_id', '=', videoId));
      await assembling.onGiveUp?.({ kind: 'assemble', subjectId: videoId }, new Error('gone'), transaction);
    });
    expect(await uploads.ingest(videoId)).toMatchObject({
      status: 'failed',
      receivedParts: { parts: [1, 2, 3] },
    });
    expect(await new SweepStore(server.database).hasOwner('uploads', videoId)).toBe(true);
    await rename(`${first}.aside`, first);
    expect((await retry()).status).toBe(200);
    await expectAssembled(videoId);
    expect((await retry()).status).toBe(409);
  });

  it('of which nothing is missing but its job is joined, however old it is', async () => {
    const videoId = await uploads.video();
    await uploads.send(videoId, pieces[0], 'part 1/3');
    await uploads.send(videoId, pieces[1], 'part 2/3');
    const first = join(server.dataDir, 'uploads', videoId, '1');
    await rename(first, `${first}.aside`);
    await uploads.send(videoId, pieces[2], 'part 3/3');
    await runSql(server.database, 'DELETE FROM jobs WHERE subject_id = ?', videoId);
    await rename(`${first}.aside`, first);
    await server.api.uploads.service.failExpired(Date.now() + 169 * 3_600_000);
    await expectAssembled(videoId);
  });

  it('that begins anew while the former one is given up keeps what it sends', async () => {
    const videoId = await uploads.video();
    const { service } = server.api.uploads;
    await uploads.send(videoId, pieces[0], 'part 1/3');
    const givingUp = service.failExpired(Date.now() + 169 * 3_600_000);
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'failed');
    expect((await uploads.send(videoId, pieces[1], 'part 1/2')).status).toBe(201);
    await givingUp;
    expect((await uploads.ingest(videoId))?.receivedParts).toEqual({ parts: [1], total: 2 });
    expect((await uploads.send(videoId, pieces[2], 'part 2/2')).status).toBe(201);
    await expectAssembled(videoId, Buffer.concat([pieces[1], pieces[2]]));
  });
});
