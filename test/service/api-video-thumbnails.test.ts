import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formWith, jpegImage, pngImage, webpImage } from '../support/images.ts';
import { productionKey, sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let requested: string[];
let now: number;
beforeEach(async () => {
  requested = [];
  now = Date.UTC(2026, 2, 4, 5, 6, 7);
  server = await startApi({
    isUpgraded: true,
    clock: { nowMs: () => now, monotonicMs: () => performance.now() },
    images: { requestFrame: async videoId => void requested.push(videoId), canDecode: async () => true },
  });
});
afterEach(() => server.stop());

const png = pngImage();
const create = async (): Promise<string> =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json.videoId;
const upload = (videoId: string, body: FormData | string, key?: string) =>
  server.call('POST', `/videos/${videoId}/thumbnail`, { body, key });
const uploadImage = (videoId: string, bytes: Buffer) => upload(videoId, formWith(['file', bytes, 'a.jpg']));
const pick = (videoId: string, timecode: unknown) =>
  server.call('PATCH', `/videos/${videoId}/thumbnail`, { body: { timecode } });

const folderOf = (videoId: string) => join(server.dataDir, 'vod', videoId);
const filesOf = (videoId: string) => (existsSync(folderOf(videoId)) ? readdirSync(folderOf(videoId)) : []);
/** Returns the thumbnail that viewers get. The folder has nothing else. */
const shownBy = async (videoId: string) => {
  const shown = await server.api.thumbnailFiles.fileOf(videoId);
  expect(filesOf(videoId)).toEqual(shown === undefined ? [] : [shown.file]);
  return shown === undefined
    ? undefined
    : { type: shown.type, bytes: readFileSync(join(folderOf(videoId), shown.file)) };
};
/** Stores a frame as a finished job does. */
const showFrame = async (videoId: string, timecode?: string) => {
  const file = join(server.dataDir, `${videoId}.frame`);
  await writeFile(file, jpegImage);
  return server.api.thumbnailFiles.showFrame(videoId, { file, timecode });
};

describe('uploading a thumbnail', () => {
  it.each([
    ['image/png', png],
    ['image/jpeg', jpegImage],
    ['image/webp', webpImage],
  ])('of %s shows it, with a video that has changed', async (type, bytes) => {
    const videoId = await create();
    now += 60_000;
    const answer = await upload(videoId, formWith(['any name', bytes, 'holiday.txt']));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual((await server.call('GET', `/videos/${videoId}`)).json);
    expect(answer.json).toMatchObject({
      videoId,
      createdAt: '2026-03-04T05:06:07+00:00',
      updatedAt: '2026-03-04T05:07:07+00:00',
    });
    expect(answer.json.assets.thumbnail).toMatch(new RegExp(`/vod/${videoId}/thumbnail\\.jpg$`));
    expect(await shownBy(videoId)).toEqual({ type, bytes });
    expect(requested).toEqual([]);
  });

  it('leaves one image of several that come at the same time', async () => {
    const videoId = await create();
    await Promise.all([png, webpImage, png, jpegImage].map(bytes => uploadImage(videoId, bytes)));
    expect(await shownBy(videoId)).toBeDefined();
    expect(filesOf(videoId)).toHaveLength(1);
  });

  it('replaces the image before', async () => {
    const videoId = await create();
    await uploadImage(videoId, png);
    await uploadImage(videoId, webpImage);
    expect(await shownBy(videoId)).toEqual({ type: 'image/webp', bytes: webpImage });
  });

  it('leaves one of several that come at once', async () => {
    const videoId = await create();
    const answers = await Promise.all(Array.from({ length: 5 }, () => uploadImage(videoId, png)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await shownBy(videoId)).toEqual({ type: 'image/png', bytes: png });
  });

  it.each([
    ['There is no uploaded file in the request.', () => formWith(['file', Buffer.from('text')])],
    ['There is no uploaded file in the request.', () => '{"file":"x"}'],
    [
      'There is more than one uploaded file in the request.',
      () => formWith(['a', png, 'a.png'], ['b', png, 'b.png']),
    ],
    ['The uploaded file is empty.', () => formWith(['a', Buffer.alloc(0), 'a.png'])],
    ['The uploaded file is too large.', () => formWith(['a', Buffer.alloc(8 * 1_024 * 1_024 + 1), 'a.png'])],
    [
      'Only [jpeg, jpg, JPG, JPEG] extensions are supported.',
      () => formWith(['a', Buffer.from('GIF89a'), 'a.jpg']),
    ],
    ['The uploaded file is invalid.', () => formWith(['a', png.subarray(0, 20), 'a.png'])],
    [
      'The uploaded file is invalid.',
      () => formWith(['a', pngImage(1, 1, { width: 60_000, height: 1 }), 'a.png']),
    ],
    [
      'The uploaded file is invalid.',
      () => formWith(['a', pngImage(1, 1, { width: 1, height: 8_193 }), 'a.png']),
    ],
  ])('is refused: %s', async (title, body) => {
    const videoId = await create();
    await uploadImage(videoId, png);
    const answer = await upload(videoId, body());
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title, name: 'file' });
    expect(await shownBy(videoId)).toEqual({ type: 'image/png', bytes: png });
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it('is for videos of the own project that are there', async () => {
    const videoId = await create();
    const foreign = await upload(videoId, formWith(['file', png, 'a.png']), productionKey);
    const unknown = await uploadImage('vi0000000000000000000000', png);
    for (const answer of [foreign, unknown]) {
      expect(answer.status).toBe(404);
      expect(answer.json).toMatchObject({ name: 'videoId' });
    }
    expect(filesOf(videoId)).toEqual([]);
    expect(existsSync(folderOf('vi0000000000000000000000'))).toBe(false);
  });

  it('leaves nothing behind when the video goes meanwhile', async () => {
    const videoId = await create();
    const projectId = await sandboxProjectOf(server.database);
    const path = join(server.dataDir, 'image');
    await writeFile(path, png);
    await server.call('DELETE', `/videos/${videoId}`);
    const file = {
      path,
      bytes: png.length,
      digest: Buffer.alloc(32),
      fileName: 'a.png',
      fields: new Map<string, string>(),
    };
    await expect(
      server.api.thumbnails.upload({ projectId, environment: 'sandbox' }, videoId, file),
    ).rejects.toMatchObject({
      code: 'resource-not-found',
    });
    expect(existsSync(folderOf(videoId))).toBe(false);
  });
});

describe('picking a frame', () => {
  it.each(['00:15:22.05', '00:00:01.000', '01:02:03', '00:00:10:12', '75', '0'])(
    'at %s is remembered for a video without media',
    async timecode => {
      const videoId = await create();
      now += 60_000;
      const answer = await pick(videoId, timecode);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ videoId, updatedAt: '2026-03-04T05:07:07+00:00' });
      expect(await server.api.thumbnailFiles.choiceOf(videoId)).toEqual({ choice: 'timecode', timecode });
      expect(requested).toEqual([videoId]);
      expect(await shownBy(videoId)).toBeUndefined();
    },
  );

  it.each([
    [{}, { title: 'This attribute is required.', name: 'timecode' }],
    [{ timecode: null }, { problems: [{ detail: 'This value should not be null.' }] }],
    [{ timecode: 12 }, { problems: [{ detail: 'This value must be of type string.' }] }],
    [{ timecode: 'soon' }, { problems: [{ name: 'timecode', title: 'An attribute is invalid.' }] }],
    [{ timecode: '' }, { problems: [{ name: 'timecode' }] }],
    [{ timecode: '-1' }, { problems: [{ name: 'timecode' }] }],
    [{ timecode: '1', at: 2 }, { problems: [{ name: 'at', detail: 'This field was not expected.' }] }],
  ])('is refused with %j', async (body, expected) => {
    const videoId = await create();
    const answer = await server.call('PATCH', `/videos/${videoId}/thumbnail`, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject(expected);
    expect(await server.api.thumbnailFiles.choiceOf(videoId)).toBeUndefined();
    expect(requested).toEqual([]);
  });

  it('is for videos of the own project that are there', async () => {
    const videoId = await create();
    const path = `/videos/${videoId}/thumbnail`;
    const foreign = await server.call('PATCH', path, { body: { timecode: '1' }, key: productionKey });
    expect([foreign.status, (await pick('vi0000000000000000000000', '1')).status]).toEqual([404, 404]);
    expect(await server.api.thumbnailFiles.choiceOf(videoId)).toBeUndefined();
  });

  it('leaves the image in place until the frame is there', async () => {
    const videoId = await create();
    await uploadImage(videoId, png);
    await pick(videoId, '2');
    expect(await shownBy(videoId)).toEqual({ type: 'image/png', bytes: png });
    expect(await showFrame(videoId, '2')).toBe(true);
    expect(await shownBy(videoId)).toEqual({ type: 'image/jpeg', bytes: jpegImage });
  });
});

describe('a frame that was made', () => {
  it('is shown by default, and gives way to what is wanted', async () => {
    const videoId = await create();
    expect(await showFrame(videoId)).toBe(true);
    expect(await shownBy(videoId)).toEqual({ type: 'image/jpeg', bytes: jpegImage });
    expect(await server.api.thumbnailFiles.choiceOf(videoId)).toEqual({ choice: 'default' });
    await uploadImage(videoId, png);
    expect(await shownBy(videoId)).toEqual({ type: 'image/png', bytes: png });
    await pick(videoId, '3');
    expect(await showFrame(videoId, '3')).toBe(true);
    expect(await showFrame(videoId, '3')).toBe(true);
    expect(await shownBy(videoId)).toEqual({ type: 'image/jpeg', bytes: jpegImage });
  });

  it.each([
    ['the default one, after an upload', undefined, (id: string) => uploadImage(id, png)],
    ['one that was wanted, after an upload', '1', (id: string) => uploadImage(id, png)],
    ['the default one, after a wish', undefined, (id: string) => pick(id, '2')],
    ['one that was wanted, after another wish', '1', (id: string) => pick(id, '2')],
  ])('is not shown when it comes too late: %s', async (_, timecode, wish) => {
    const videoId = await create();
    if (timecode === undefined) await showFrame(videoId);
    else await pick(videoId, timecode);
    await wish(videoId);
    const before = await shownBy(videoId);
    expect(await showFrame(videoId, timecode)).toBe(false);
    expect(await shownBy(videoId)).toEqual(before);
  });

  it('is thrown away when its video is gone', async () => {
    const videoId = await create();
    await pick(videoId, '1');
    await server.call('DELETE', `/videos/${videoId}`);
    expect(await showFrame(videoId, '1')).toBe(false);
    expect(await showFrame(videoId)).toBe(false);
    expect(existsSync(folderOf(videoId))).toBe(false);
    expect(await server.api.thumbnailFiles.fileOf(videoId)).toBeUndefined();
  });
});
