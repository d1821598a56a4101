import { describe, expect, it } from 'vitest';
import { parseVodPath, type VodAsset } from '../../../../src/delivery/vod/vod-path.ts';

const videoId = 'vi5Ds8GhJk1Qw3ErTy6UiOpA';
const token = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab';

const assets: readonly (readonly [string, VodAsset])[] = [
  ['hls/manifest.m3u8', { kind: 'vod-multivariant' }],
  ['hls/720p/manifest.m3u8', { kind: 'vod-playlist', rendition: '720p' }],
  ['hls/av1-720p/manifest.m3u8', { kind: 'vod-playlist', rendition: 'av1-720p' }],
  ['hls/audio/manifest.m3u8', { kind: 'vod-playlist', rendition: 'audio' }],
  ['hls/720p/init-1.mp4', { kind: 'vod-media', rendition: '720p', name: 'init-1.mp4' }],
  ['hls/audio/audio-1-34.m4s', { kind: 'vod-media', rendition: 'audio', name: 'audio-1-34.m4s' }],
  ['mp4/source.mp4', { kind: 'vod-mp4', quality: undefined }],
  ['mp4/1080/source.mp4', { kind: 'vod-mp4', quality: '1080p' }],
  ['thumbnail.jpg', { kind: 'vod-thumbnail' }],
  ['storyboard.jpg', { kind: 'vod-storyboard', form: 'image' }],
  ['storyboard.vtt', { kind: 'vod-storyboard', form: 'text' }],
  ['state', { kind: 'vod-state' }],
  ['hls/captions/fr-CA.m3u8', { kind: 'vod-captions-playlist', language: 'fr-CA' }],
  ['captions/fr-CA.vtt', { kind: 'vod-text-track', track: 'captions', language: 'fr-CA' }],
  ['chapters/en.vtt', { kind: 'vod-text-track', track: 'chapters', language: 'en' }],
];

describe('parseVodPath', () => {
  it.each(assets)('reads %s, with and without a token', (path, asset) => {
    const kind = 'vod-asset';
    expect(parseVodPath(`/vod/${videoId}/${path}`)).toEqual({ kind, videoId, token: undefined, asset });
    expect(parseVodPath(`/vod/${videoId}/token/${token}/${path}`)).toEqual({ kind, videoId, token, asset });
  });

  it('reads the paths of the page and of what it tells others', () => {
    for (const end of ['', '/']) {
      expect(parseVodPath(`/vod/${videoId}${end}`)).toEqual({ kind: 'vod-page', videoId });
      expect(parseVodPath(`/vod/nobody${end}`)).toEqual({ kind: 'vod-page', videoId: '' });
    }
    expect(parseVodPath('/vod/')).toEqual({ kind: 'vod-page', videoId: '' });
    expect(parseVodPath('/vod/sample')).toEqual({ kind: 'vod-sample' });
    expect(parseVodPath(`/vod/${videoId}/oembed.json`)).toEqual({ kind: 'vod-oembed', videoId });
    expect(parseVodPath(`/vod/${videoId}/token/${token}/session`)).toMatchObject({
      asset: { kind: 'vod-session' },
    });
    const access = { kind: 'vod-access', videoId, token };
    expect(parseVodPath(`/vod/${videoId}/token/${token}/access`)).toEqual(access);
  });

  it.each([
    ['/vod'],
    ['/videos'],
    [`/videos/${videoId}`],
    [`/videos/${videoId}/source`],
    [`/${videoId}/hls/manifest.m3u8`],
    ['/'],
    [''],
    ['*'],
  ])('leaves %s to others', path => {
    expect(parseVodPath(path)).toBeUndefined();
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
    expect(parseVodPath(`/vod/${videoId}${rest}`)).toEqual({ kind: 'unknown' });
  });

  it.each([
    ['/vod/nobody/state'],
    [`/vod/${videoId}x/state`],
    ['/vod/vi%35Ds8GhJk1Qw3ErTy6UiOpA/state'],
    ['/vod/vi../state'],
    ['/vod//thumbnail.jpg'],
    ['/vod/../videos/x'],
  ])('takes no other id for one: %s', path => {
    expect(parseVodPath(path)).toEqual({ kind: 'unknown' });
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
      const found = parseVodPath(path);
      if (found?.kind !== 'vod-asset') continue;
      const { asset } = found;
      for (const text of [
        'rendition' in asset ? asset.rendition : 'x',
        'name' in asset ? asset.name : 'x',
        'quality' in asset ? (asset.quality ?? 'x') : 'x',
      ]) {
        expect(text).toMatch(/^[\w-][\w.-]*$/);
      }
    }
  });
});
