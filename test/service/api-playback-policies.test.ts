import { afterEach, beforeEach, expect, it } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { LiveStreamsStore } from '../../src/resources/live/live-streams/live-streams.store.ts';
import { EncodingsStore } from '../../src/resources/videos/videos/encodings/encodings.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';

const projectPath = '/account/playback-policy';
const given = { allowedDomains: ['Example.com', '*.example.net'] };
const shown = {
  allowedDomains: ['example.com', '*.example.net'],
  allowNoReferrer: true,
  allowedCountries: [],
  blockedCountries: [],
};

let server: TestApi;
beforeEach(async () => {
  server = await startApi({ isUpgraded: true });
});
afterEach(() => server.stop());

const setProject = (playbackPolicy: unknown, key?: string) =>
  server.call('PATCH', projectPath, { body: { playbackPolicy }, key });

it('is set, shown, replaced and unset for a video, a live stream and the environment', async () => {
  const kinds = [
    ['/videos', 'videoId', { title: 'Harbour' }],
    ['/live-streams', 'liveStreamId', { name: 'Pier' }],
  ] as const;
  for (const [path, id, attributes] of kinds) {
    const { json } = await server.call('POST', path, { body: { ...attributes, playbackPolicy: given } });
    expect(json.playbackPolicy).toEqual(shown);
    const own = `${path}/${json[id]}`;
    expect((await server.call('GET', own)).json.playbackPolicy).toEqual(shown);
    const countries = { blockedCountries: ['US'], allowNoReferrer: false };
    const changed = await server.call('PATCH', own, { body: { playbackPolicy: countries } });
    expect(changed.json.playbackPolicy).toEqual({ ...shown, allowedDomains: [], ...countries });
    expect((await server.call('PATCH', own, { body: {} })).json.playbackPolicy).toMatchObject(countries);
    const unset = await server.call('PATCH', own, { body: { playbackPolicy: null } });
    expect(unset.json).not.toHaveProperty('playbackPolicy');
  }
  expect((await server.call('GET', projectPath)).json).toEqual({ playbackPolicy: null });
  expect((await setProject(given)).json).toEqual({ playbackPolicy: shown });
  expect((await server.call('GET', projectPath)).json).toEqual({ playbackPolicy: shown });
  expect((await server.call('GET', projectPath, { key: productionKey })).json.playbackPolicy).toBeNull();
  expect((await setProject(null)).json).toEqual({ playbackPolicy: null });
});

it('of the environment holds for videos and live streams without their own', async () => {
  const { videoId } = (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json;
  const { liveStreamId } = (await server.call('POST', '/live-streams', { body: { name: 'Pier' } })).json;
  const videos = new EncodingsStore(server.database, new Outbox(server.database, silentLogger), systemClock);
  const streams = new LiveStreamsStore(server.database);
  const policies = async () => [
    (await videos.findForViewers(videoId))?.policy,
    (await streams.findForViewers(liveStreamId))?.policy,
  ];
  const setBoth = async (playbackPolicy: unknown) => {
    await server.call('PATCH', `/videos/${videoId}`, { body: { playbackPolicy } });
    await server.call('PATCH', `/live-streams/${liveStreamId}`, { body: { playbackPolicy } });
  };
  expect(await policies()).toEqual([undefined, undefined]);
  await setProject(given);
  expect(await policies()).toEqual([shown, shown]);
  await setBoth({ allowedCountries: ['DE'] });
  expect(await policies()).toMatchObject([{ allowedCountries: ['DE'] }, { allowedCountries: ['DE'] }]);
  // Everybody may play, whatever the environment says.
  await setBoth({});
  expect(await policies()).toEqual([undefined, undefined]);
  await setBoth(null);
  expect(await policies()).toEqual([shown, shown]);
});

it('refuses what is no domain or country, and too many of them', async () => {
  const wrong = [
    ...['https://example.com', 'example.com:80', '*', '*.', 'a.*.com', 'exa mple.com', '-a.com', ''].map(
      domain => ({ allowedDomains: [domain] }),
    ),
    { allowedDomains: ["example.com'; script-src *"] },
    { allowedDomains: Array.from({ length: 51 }, (_, index) => `a${index}.com`) },
    {
      allowedDomains: Array.from({ length: 20 }, (_, index) => `${'a'.repeat(60)}.${'b'.repeat(60)}${index}`),
    },
    { allowedDomains: `${'a.'.repeat(130)}com` },
    { allowedDomains: 'example.com' },
    ...['de', 'DEU', '', 'D1'].map(country => ({ allowedCountries: [country] })),
    { blockedCountries: [49] },
    { allowNoReferrer: null },
    { other: 1 },
  ];
  for (const policy of wrong) {
    const { status, json } = await setProject(policy);
    expect([policy, status]).toEqual([policy, 400]);
    expect(json.name).toMatch(/^playbackPolicy/);
  }
});
