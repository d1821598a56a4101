import { describe, expect, it } from 'vitest';
import { parseViewerPath } from '../../../src/delivery/viewer-path.ts';

const id = 'li5Ds8GhJk1Qw3ErTy6UiOpA';

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
    ['/', { kind: 'home' }],
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
    [`/live/${id}/state/`],
    [`/live/${id}/../../etc/passwd`],
  ])('claims %s, where nothing can be', path => {
    expect(parseViewerPath(path)).toEqual({ kind: 'unknown' });
  });
});
