import { describe, expect, it } from 'vitest';
import { readPath } from './read-path.ts';

const id = 'li5Ds8GhJk1Qw3ErTy6UiOpA';
const token = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab';
const videoId = 'vi5Ds8GhJk1Qw3ErTy6UiOpA';

const assets: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['hls/manifest.m3u8', { kind: 'vod-multivariant' }],
  ['hls/720p/manifest.m3u8', { kind: 'vod-playlist', rendition: '720p' }],
  ['hls/av1-720p/manifest.m3u8', { kind: 'vod-playlist', rendition: 'av1-720p' }],
  ['hls/audio/manifest.m3u8', { kind: 'vod-playlist', rendition: 'audio' }],
  ['hls/720p/init-1.mp4', { kind: 'vod-media', rendition: '720p', name: 'init-1.mp4' }],
  ['hls/audio/audio-1-34.m4s', { kind: 'vod-media', rendition: 'audio', name: 'audio-1-34.m4s' }],
  ['mp4/source.mp4', { kind: 'vod-mp4' }],
  ['mp4/1080/source.mp4', { kind: 'vod-mp4', height: '1080' }],
  ['thumbnail.jpg', { kind: 'vod-thumbnail' }],
  ['storyboard.jpg', { kind: 'vod-storyboard' }],
  ['storyboard.vtt', { kind: 'vod-storyboard' }],
  ['state', { kind: 'vod-state' }],
  ['hls/captions/fr-CA.m3u8', { kind: 'vod-captions-playlist', language: 'fr-CA' }],
  ['captions/fr-CA.vtt', { kind: 'vod-text-track', language: 'fr-CA' }],
  ['chapters/en.vtt', { kind: 'vod-text-track', language: 'en' }],
];

describe('paths of videos', () => {
  it.each(assets)('reads %s, with and without a token', (path, asset) => {
    expect(readPath(`/vod/${videoId}/${path}`)).toEqual({ videoId, ...asset });
    const privatePath = `/vod/${videoId}/token/${token}/${path}`;
    expect(readPath(privatePath)).toEqual({ videoId, privateToken: token, ...asset });
  });

  it('reads the paths of the page and of what it tells others', () => {
    for (const end of ['', '/']) {
      expect(readPath(`/vod/${videoId}${end}`)).toEqual({ kind: 'vod-page', videoId });
      expect(readPath(`/vod/nobody${end}`)).toEqual({ kind: 'vod-page', videoId: '' });
    }
    for (const path of ['/vod/', '/vod/token', '/vod/token/']) {
      expect(readPath(path), path).toEqual({ kind: 'vod-page', videoId: '' });
    }
    expect(readPath('/vod/sample')).toEqual({ kind: 'vod-sample' });
    expect(readPath(`/vod/${videoId}/oembed.json`)).toEqual({ kind: 'vod-oembed', videoId });
    expect(readPath(`/vod/${videoId}/token/${token}/session`)).toMatchObject({ kind: 'vod-session' });
    const access = { kind: 'vod-access', videoId, privateToken: token };
    expect(readPath(`/vod/${videoId}/token/${token}/access`)).toEqual(access);
  });

  it.each([
    ['/vod'],
    ['/videos'],
    [`/videos/${videoId}`],
    [`/videos/${videoId}/source`],
    [`/${videoId}/hls/720p/init-1.mp4`],
    ['/'],
    [''],
    ['*'],
  ])('leaves %s to others', path => {
    expect(readPath(path)).toBeUndefined();
  });

  it.each([
    ['/hls'],
    ['/hls/'],
    ['/hls/index.m3u8'],
    ['/hls//manifest.m3u8'],
    ['/hls/../manifest.m3u8'],
    ['/captions/.vtt'],
    ['/captions/../x.vtt'],
    ['/captions/fr_CA.vtt'],
    ['/captions/fr'],
    ['/subtitles/fr.vtt'],
    ['/hls/720p/..'],
    ['/hls/720p/.hidden'],
    ['/hls/720p/../../../source'],
    ['/hls/720p/x/manifest.m3u8'],
    ['/hls/%37%32%30p/manifest.m3u8'],
    ['/hls/720p/init-1.mp4\0'],
    ['/hls/720p/init-1.mp4\n'],
    [`/hls/${'7'.repeat(17)}/manifest.m3u8`],
    [`/hls/720p/${'n'.repeat(65)}`],
    ['/mp4/../source.mp4'],
    ['/mp4/720p/source.mp4'],
    ['/mp4/source.mp4/'],
    ['/source'],
    ['/session'],
    ['/access'],
    ['/constructor'],
    ['/token/'],
    [`/token/${token}`],
    [`/token/${token}/`],
    [`/token/${token}/token/${token}/state`],
    [`/token/${token.toUpperCase()}/state`],
    [`/token/${token}0/state`],
    [`/token/${token}/oembed.json`],
    ['/captions/en.srt'],
    ['/chapters/en.vtt/'],
    ['/state/'],
    ['//state'],
  ])('finds nothing at %s of a video', rest => {
    expect(readPath(`/vod/${videoId}${rest}`)).toEqual({ kind: 'unknown' });
  });

  it.each([
    ['/vod/nobody/state'],
    [`/vod/${videoId}x/state`],
    ['/vod/vi%35Ds8GhJk1Qw3ErTy6UiOpA/state'],
    ['/vod/vi../state'],
    ['/vod//thumbnail.jpg'],
    ['/vod/../videos/x'],
  ])('takes no other id for one: %s', path => {
    expect(readPath(path)).toEqual({ kind: 'unknown' });
  });

  it('never throws, and gives on only names that are safe as a part of a path', () => {
    const pieces = [
      '/',
      'hls',
      '..',
      '%2e%2e',
      videoId,
      'token',
      token,
      '720p',
      '\0',
      'é',
      'mp4',
      '.mp4',
      '-',
      '//',
    ];
    let seed = 7;
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 20_000; round += 1) {
      const path = `/vod/${Array.from({ length: next(9) }, () => pieces[next(pieces.length)]).join(next(2) === 0 ? '/' : '')}`;
      const { rendition = 'x', name = 'x', height = 'x' } = readPath(path) ?? {};
      for (const text of [rendition, name, height]) expect(text).toMatch(/^[\w-][\w.-]*$/);
    }
  });
});

describe('paths of live streams', () => {
  it.each([
    [`/${id}.m3u8`, { kind: 'multivariant', liveStreamId: id }],
    [`/${id}/thumbnail.jpg`, { kind: 'thumbnail', liveStreamId: id }],
    [
      `/${id}/b-1/source/index.m3u8`,
      { kind: 'playlist', liveStreamId: id, broadcastId: 'b-1', rendition: 'source' },
    ],
    [
      `/${id}/b-1/source/part-345.m4s`,
      { kind: 'media', liveStreamId: id, broadcastId: 'b-1', rendition: 'source', name: 'part-345.m4s' },
    ],
    [
      `/${id}/b-1/storyboard/17644321-20.jpg`,
      { kind: 'storyboard', liveStreamId: id, broadcastId: 'b-1', sheet: '17644321', slots: '20' },
    ],
    [
      `/private/${token}/${id}/avh-a_B-9/b-1/storyboard/1-9.jpg`,
      {
        kind: 'storyboard',
        liveStreamId: id,
        broadcastId: 'b-1',
        sheet: '1',
        slots: '9',
        privateToken: token,
        session: 'a_B-9',
      },
    ],
    [`/private/${token}/${id}.m3u8`, { kind: 'multivariant', liveStreamId: id, privateToken: token }],
    [`/private/${token}/${id}/thumbnail.jpg`, { kind: 'thumbnail', liveStreamId: id, privateToken: token }],
    [`/private/${token}/${id}/session`, { kind: 'session', liveStreamId: id, privateToken: token }],
    [`/private/${token}/${id}/access`, { kind: 'access', liveStreamId: id, privateToken: token }],
    [
      `/private/${token}/${id}/b-1/source/index.m3u8`,
      { kind: 'playlist', liveStreamId: id, broadcastId: 'b-1', rendition: 'source', privateToken: token },
    ],
    [
      `/private/${token}/${id}/avh-a_B-9/b-1/720p/part-3.m4s`,
      {
        kind: 'media',
        liveStreamId: id,
        broadcastId: 'b-1',
        rendition: '720p',
        name: 'part-3.m4s',
        privateToken: token,
        session: 'a_B-9',
      },
    ],
    [`/live/${id}`, { kind: 'page', liveStreamId: id }],
    [`/live/${id}/`, { kind: 'page', liveStreamId: id }],
    [`/live/${id}/state`, { kind: 'state', liveStreamId: id }],
    [`/live/${id}/events`, { kind: 'events', liveStreamId: id }],
    ['/live/nobody', { kind: 'page', liveStreamId: '' }],
    ['/live/', { kind: 'page', liveStreamId: '' }],
    ['/assets/main-0123.js', { kind: 'asset', name: 'main-0123.js' }],
    [
      '/player/pl5Ds8GhJk1Qw3ErTy6UiOpA/logo.png',
      { kind: 'logo', playerId: 'pl5Ds8GhJk1Qw3ErTy6UiOpA', extension: 'png' },
    ],
    ['/player/pl5Ds8GhJk1Qw3ErTy6UiOpA/logo.gif', { kind: 'unknown' }],
    ['/player/../logo.png', { kind: 'unknown' }],
  ])('reads %s', (path, expected) => {
    expect(readPath(path)).toEqual(expected);
  });

  it.each([
    ['*'],
    [''],
    ['/live'],
    ['/live-streams'],
    ['/live-streams/li5Ds8GhJk1Qw3ErTy6UiOpA'],
    ['/live-streams/li5Ds8GhJk1Qw3ErTy6UiOpA/thumbnail'],
    ['/auth/api-key'],
    ['/openapi.json'],
    ['/health/live'],
    ['/videos'],
    ['/players'],
    ['/players/pl5Ds8GhJk1Qw3ErTy6UiOpA/logo'],
    [`/${id}`],
  ])('leaves %s to the API', path => {
    expect(readPath(path)).toBeUndefined();
  });

  it.each([
    ['/index.m3u8'],
    ['/li.m3u8'],
    [`/${id}x.m3u8`],
    [`/${id}.m3u8/`],
    [`/${id}.mpd`],
    [`/${id}/`],
    [`/${id}/b1/`],
    [`/${id}/b1/source/`],
    [`/${id}//source/index.m3u8`],
    [`/${id}/b1/best/index.m3u8`],
    [`/${id}/b1/source/../../secret`],
    [`/${id}/${'b'.repeat(65)}/source/index.m3u8`],
    [`/${id}/b1/source/${'n'.repeat(65)}`],
    ['/li%35Ds8GhJk1Qw3ErTy6UiOpA/thumbnail.jpg'],
    ['/li5Ds8GhJk1Qw3ErTy6UiO\0A/b1/source/index.m3u8'],
    ['/live/nobody/state'],
    ['/private/'],
    [`/private/${token}`],
    [`/private/${token}/${id}`],
    [`/private/${token}/${id}/`],
    [`/private/${token}/${id}/state`],
    [`/private/${token}x/${id}.m3u8`],
    [`/private/${token.slice(1)}/${id}.m3u8`],
    [`/private/${token}/private/${token}/${id}.m3u8`],
    [`/private/${token}/live/${id}`],
    [`/private/${token}/${id}/avh-/b1/source/index.m3u8`],
    [`/private/${token}/${id}/avh-a/avh-b/b1/source/index.m3u8`],
    [`/private/${token}/${id}/avh-${'a'.repeat(65)}/b1/source/index.m3u8`],
    [`/${id}/avh-a/b1/source/index.m3u8`],
    [`/${id}/session`],
    [`/live/${id}/state/`],
    [`/live/${id}/../../etc/passwd`],
  ])('claims %s, where nothing can be', path => {
    expect(readPath(path)).toEqual({ kind: 'unknown' });
  });
});
