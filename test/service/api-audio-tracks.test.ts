import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let path: string;
beforeAll(async () => {
  server = await startApi({ isUpgraded: true });
});
afterAll(() => server.stop());

const stored = [
  { track: 1, language: 'en', codec: 'aac', channels: 2, isDefault: true },
  { track: 2, language: 'fr', codec: 'ac3', channels: 6, isDefault: false },
  { track: 3, name: 'Commentary', codec: 'aac', channels: 1, isDefault: false },
];

beforeEach(async () => {
  const { videoId } = (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json;
  path = `/videos/${videoId}/audio-tracks`;
  await addAudioTracks(server, videoId, stored, {
    ...({ audio: 'encoded', audio2: 'encoded', audio3: 'failed', surround2: 'encoded' } as const),
  });
});

const change = (id: string, body: Record<string, unknown>) => server.call('PATCH', `${path}/${id}`, { body });
const names = async () =>
  (await server.call('GET', path)).json.data.map((track: { name: string; default: boolean }) =>
    track.default ? `${track.name}*` : track.name,
  );

it('shows the audio tracks of a video in the order of menus', async () => {
  const { data, pagination } = (await server.call('GET', path)).json;
  expect(pagination.itemsTotal).toBe(3);
  expect(data).toEqual([
    expect.objectContaining({ audioTrackId: '1', name: 'English', default: true, status: 'encoded' }),
    {
      uri: `${path}/2`,
      audioTrackId: '2',
      name: 'Français',
      language: 'fr',
      channels: 6,
      codec: 'ac3',
      default: false,
      position: 2,
      status: 'encoded',
    },
    expect.objectContaining({ name: 'Commentary', language: null, position: 3, status: 'failed' }),
  ]);
  expect((await server.call('GET', `${path}/2`)).json).toEqual(data[1]);
});

it('names, moves and selects them, and increases the revision', async () => {
  expect(
    (await change('3', { position: 1, name: ' Director "cut" ', language: 'EN-gb' })).json,
  ).toMatchObject({
    audioTrackId: '3',
    name: 'Director ”cut”',
    language: 'en-GB',
    position: 1,
  });
  expect((await change('2', { default: true, name: 'VF' })).json).toMatchObject({
    name: 'VF',
    default: true,
  });
  expect(await names()).toEqual(['Director ”cut”', 'English', 'VF*']);
  expect((await change('2', { name: null, position: 50 })).json.name).toBe('Français');
  expect(await names()).toEqual(['Director ”cut”', 'English', 'Français*']);
  const videoId = path.split('/')[2];
  expect(
    await singleValue(server.database, `SELECT revision FROM video_encodings WHERE video_id = '${videoId}'`),
  ).toBe(10);
});

it('knows the tracks of recordings, which have none stored', async () => {
  const videoId = path.split('/')[2];
  await runSql(
    server.database,
    `UPDATE video_encodings SET audio_tracks = NULL WHERE video_id = '${videoId}'`,
  );
  expect(await names()).toEqual(['Audio 1*', 'Audio 2', 'Audio 3']);
  expect((await change('1', { language: 'de' })).json).toMatchObject({ name: 'Deutsch', channels: 2 });
});

it('refuses what a track cannot be', async () => {
  for (const body of [
    { language: 'xx' },
    { position: 0 },
    { default: false },
    { name: '' },
    { title: 'a' },
  ]) {
    expect((await change('1', body)).status).toBe(400);
  }
  expect((await change('4', { name: 'a' })).status).toBe(404);
  expect((await server.call('GET', `/videos/vi${'0'.repeat(22)}/audio-tracks`)).status).toBe(404);
});
