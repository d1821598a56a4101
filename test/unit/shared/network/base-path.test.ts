import { describe, expect, test } from 'vitest';
import { buildApiDocument } from '../../../../scripts/api-document.ts';
import { basePathOf, basePathProblem, withoutBasePath } from '../../../../src/shared/network/base-path.ts';

const stream = 'li5Ds8GhJk1Qw3ErTy6UiOpA';

test.each([
  ['', ''],
  [undefined, ''],
  ['https://video.example.org', ''],
  ['https://video.example.org:8443/', ''],
  ['https://example.org/media', '/media'],
  ['https://example.org/tv/live//', '/tv/live'],
])('the base path of %j is %j', (url, expected) => {
  expect(basePathOf(url)).toBe(expected);
});

describe('a request', () => {
  test.each([
    ['/media/dashboard', '/dashboard'],
    ['/media/media/x', '/media/x'],
    ['/media/videos?a=/media/b', '/videos?a=/media/b'],
    ['/media/', '/'],
    ['/media', '/'],
    ['/media?a=b', '/?a=b'],
    ['/mediax/videos', '/mediax/videos'],
    ['/videos', '/videos'],
    ['/Media/videos', '/Media/videos'],
    ['*', '*'],
  ])('for %j below /media is for %j', (url, expected) => {
    expect(withoutBasePath(url, '/media')).toBe(expected);
    expect(withoutBasePath(url, '')).toBe(url);
  });

  test.each([
    ['/~tv.v1/one/two/videos', '/videos'],
    ['/%7Etv.v1/one/two/videos?a=%7E', '/videos?a=%7E'],
    ['/%7etv%2Ev1/%6fne/two', '/'],
    ['/~tv.v1%2Fone/two/videos', '/~tv.v1%2Fone/two/videos'],
    ['/%7Etv.v1/one/tw', '/%7Etv.v1/one/tw'],
    ['/%7Etv.v1/one/twos', '/%7Etv.v1/one/twos'],
  ])('for %j below /~tv.v1/one/two, as clients may encode it, is for %j', (url, expected) => {
    expect(withoutBasePath(url, '/~tv.v1/one/two')).toBe(expected);
  });

  test.each([
    ['/live/dashboard/live', '/dashboard/live'],
    ['/live/?a', '/?a'],
    [`/live/${stream}`, `/live/${stream}`],
    [`/live/${stream}/state`, `/live/${stream}/state`],
    [`/live/live/${stream}?token=a`, `/live/${stream}?token=a`],
    [`/live/${stream}.m3u8`, `/${stream}.m3u8`],
    [`/live/${stream}/thumbnail.jpg`, `/${stream}/thumbnail.jpg`],
    [`/live/${stream}/br1/720p/index.m3u8?_HLS_msn=1`, `/${stream}/br1/720p/index.m3u8?_HLS_msn=1`],
    ['/live/videos/a/source', '/videos/a/source'],
  ])('for %j below /live is for %j', (url, expected) => {
    expect(withoutBasePath(url, '/live')).toBe(expected);
  });
});

describe('a base path', () => {
  test.each(['/dashboard', '/docs/video', '/tv/docs', '/tv/dashboard', '/a%20b', '/a;b', "/a'b"])(
    'may not be %s',
    path => {
      expect(basePathProblem(path)).toContain('the path');
    },
  );

  test('may start as a path of the server only if the two can be told apart', async () => {
    const { paths } = await buildApiDocument();
    const ids = { liveStreamId: stream, videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN' } as Record<string, string>;
    const own = [
      ...Object.keys(paths).map(path => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'a1')),
      ...['/whip', '/whip/sessions/a1', `/whep/${stream}`, '/whep/sessions/a1', `/clips/${stream}/video`],
    ];
    expect(own.length).toBeGreaterThan(100);
    const firstParts = new Set(own.map(path => path.split('/')[1]!.split('.m3u8')[0]!));
    firstParts.delete('');
    firstParts.delete(stream);
    const ambiguous = [...firstParts].filter(first =>
      own.some(path => {
        const below = withoutBasePath(`/${first}${path}`, `/${first}`);
        return withoutBasePath(path, `/${first}`) !== path || (path !== '/' && below !== path);
      }),
    );
    const refused = [...firstParts].filter(first => basePathProblem(`/${first}`) !== undefined);
    expect(ambiguous.sort()).toEqual(refused.sort());
  });
});
