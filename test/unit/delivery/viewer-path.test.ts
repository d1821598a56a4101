import { describe, expect, it } from 'vitest';
import { addressPlaylist, parseViewerPath } from '../../../src/delivery/viewer-path.ts';

const id = 'li5Ds8GhJk1Qw3ErTy6UiOpA';
const token = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab';

describe('parseViewerPath', () => {
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
    [`/private/${token}/${id}.m3u8`, { kind: 'multivariant', liveStreamId: id, token }],
    [`/private/${token}/${id}/thumbnail.jpg`, { kind: 'thumbnail', liveStreamId: id, token }],
    [`/private/${token}/${id}/session`, { kind: 'session', liveStreamId: id, token }],
    [`/private/${token}/${id}/access`, { kind: 'access', liveStreamId: id, token }],
    [
      `/private/${token}/${id}/b-1/source/index.m3u8`,
      { kind: 'playlist', liveStreamId: id, broadcastId: 'b-1', rendition: 'source', token },
    ],
    [
      `/private/${token}/${id}/avh-a_B-9/b-1/720p/part-3.m4s`,
      {
        kind: 'media',
        liveStreamId: id,
        broadcastId: 'b-1',
        rendition: '720p',
        name: 'part-3.m4s',
        token,
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
    expect(parseViewerPath(path)).toEqual(expected);
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
    expect(parseViewerPath(path)).toBeUndefined();
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
    expect(parseViewerPath(path)).toEqual({ kind: 'unknown' });
  });
});

describe('withSession', () => {
  it('puts a session into every address of a playlist, from where media is found with it', () => {
    const playlist = [
      '#EXTM3U',
      `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",URI="${id}/b1/audio/index.m3u8"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=1',
      `${id}/b1/720p/index.m3u8`,
    ].join('\n');
    const own = addressPlaylist(playlist, id, { token, avh: 's0' }, undefined);
    expect(own).toContain(`URI="${id}/avh-s0/b1/audio/index.m3u8"`);
    const address = own.split('\n').at(-1)!;
    expect(parseViewerPath(new URL(address, `http://a/private/${token}/${id}.m3u8`).pathname)).toEqual({
      kind: 'playlist',
      liveStreamId: id,
      broadcastId: 'b1',
      rendition: '720p',
      token,
      session: 's0',
    });
  });

  it('names the server of the media where there are several', () => {
    const playlist = `${id}/b1/720p/index.m3u8`;
    expect(addressPlaylist(playlist, id, undefined, 'https://b')).toBe(`https://b/${id}/b1/720p/index.m3u8`);
    expect(addressPlaylist(playlist, id, { token, avh: 's0' }, 'https://b')).toBe(
      `https://b/private/${token}/${id}/avh-s0/b1/720p/index.m3u8`,
    );
  });
});
