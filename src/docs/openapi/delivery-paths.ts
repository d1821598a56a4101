import type { DescribedAnswer, DescribedPath } from './path-items.ts';

export const deliveryNames: Readonly<Record<string, string>> = {
  videoId: 'Id of the video.',
  liveStreamId: 'Id of the live stream.',
  broadcastId: 'Id of the broadcast, from the playlist.',
  playerId: 'Id of the player theme.',
  privateToken:
    'The private token in `assets` of a private video or live stream, which is valid for one session; or a JSON Web Token that you sign.',
  session: 'The session, in URLs of the playlist.',
  rendition: 'A rendition such as `720p` or `audio`. `source` is a broadcast as it was received.',
  height: 'Height of a rendition in pixels, such as `720`.',
  language: 'Language tag of the file.',
  extension: '`png` or `jpg`, as in the URL of the theme.',
  name: 'File name, from the playlist or page.',
  code: 'Last part of the `type` of an error.',
};

const playlistType = 'application/vnd.apple.mpegurl';
const page = 'text/html; charset=utf-8';
const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

const cacheHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'How long caches can keep the response.',
  ETag: 'Version of the response.',
};
const fileNotFound: DescribedAnswer = {
  description: 'The file does not exist.',
  types: ['application/json'],
  schema: { $ref: '#/components/schemas/Error' },
};
const notFound: DescribedAnswer = {
  description: 'The resource does not exist, or is private.',
  isError: true,
};
const notModified: DescribedAnswer = {
  description: 'The version in `If-None-Match` is current.',
  headers: cacheHeaders,
};
const inStorage: DescribedAnswer = {
  description: 'The file is in object storage.',
  headers: { Location: 'Where it is, for a limited time.' },
};
const notYet: DescribedAnswer = {
  description: 'Not playable yet. Try again later.',
  headers: { 'Retry-After': 'Seconds to wait.' },
};
const busy: DescribedAnswer = {
  description: 'Too many responses are in progress.',
  isError: true,
  headers: { 'Retry-After': 'Seconds to wait.' },
};

function byteRanges(description: string, ...types: string[]): Record<number, DescribedAnswer> {
  const headers = { ...cacheHeaders, 'Accept-Ranges': '`bytes`.' };
  return {
    200: { description, types, schema: binary, headers },
    206: {
      description: 'The requested range.',
      types,
      schema: binary,
      headers: { ...headers, 'Content-Range': 'The range of these bytes.' },
    },
    304: notModified,
    404: notFound,
    416: { description: 'The range is outside the file.', isError: true },
    503: busy,
  };
}

function wholeFile(description: string, type: string): Record<number, DescribedAnswer> {
  return { 200: { description, types: [type], headers: cacheHeaders }, 304: notModified, 404: notFound };
}

function json(description: string, example: object): Record<number, DescribedAnswer> {
  return {
    200: { description, types: ['application/json'], schema: { type: 'object' }, example },
    404: notFound,
  };
}

const range = { Range: 'The requested bytes, such as `bytes=0-1023`.' };
const session = {
  query: { avh: 'The session of a private video or live stream.' },
  headers: { 'X-Token-Session': 'The same as `avh`.' },
};

const pageSession = {
  query: {
    token: 'The private token of a private video or live stream, or a JSON Web Token that you sign.',
    ...session.query,
  },
  headers: session.headers,
};

/** Below `/vod/{videoId}`, private ones below `/vod/{videoId}/token/{privateToken}`. */
const videoAssets: readonly (Omit<DescribedPath, 'path' | 'tag'> & { readonly asset: string })[] = [
  {
    asset: '/hls/manifest.m3u8',
    summary: 'Multivariant playlist of a video',
    description: 'Renditions are added as they are finished.',
    answers: { ...wholeFile('The playlist.', playlistType), 202: notYet },
  },
  {
    asset: '/hls/{rendition}/manifest.m3u8',
    summary: 'Playlist of a rendition',
    answers: wholeFile('The playlist.', playlistType),
  },
  {
    asset: '/hls/captions/{language}.m3u8',
    summary: 'Playlist of the captions in one language',
    description: 'Its only segment is the captions file.',
    answers: wholeFile('The playlist.', playlistType),
  },
  {
    asset: '/hls/{rendition}/{name}',
    summary: 'Initialization section or segment of a video',
    headers: range,
    answers: byteRanges('Fragmented MP4.', 'video/mp4', 'audio/mp4'),
  },
  {
    asset: '/mp4/source.mp4',
    summary: 'A video as an MP4 file',
    description: 'The best rendition. Only if `mp4Support` is on.',
    query: { dl: '`1` makes browsers save the file.' },
    headers: range,
    answers: { ...byteRanges('The file.', 'video/mp4'), 202: notYet, 302: inStorage },
  },
  {
    asset: '/mp4/{height}/source.mp4',
    summary: 'A rendition as an MP4 file',
    query: { dl: '`1` makes browsers save the file.' },
    headers: range,
    answers: { ...byteRanges('The file.', 'video/mp4'), 302: inStorage },
  },
  {
    asset: '/thumbnail.jpg',
    summary: 'Thumbnail of a video',
    description: 'A placeholder until there is one. Uploaded images keep their format.',
    query: { placeholder: '`none` returns 204 instead of the placeholder.' },
    headers: range,
    answers: {
      ...byteRanges('The image.', 'image/jpeg', 'image/png', 'image/webp'),
      204: { description: 'There is no thumbnail yet.' },
    },
  },
  {
    asset: '/storyboard.jpg',
    summary: 'Storyboard: small frames of a video in one image',
    headers: range,
    answers: byteRanges('The image.', 'image/jpeg'),
  },
  {
    asset: '/storyboard.vtt',
    summary: 'Index of the storyboard',
    answers: wholeFile('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/captions/{language}.vtt',
    summary: 'Captions of a video',
    description: 'The file exactly as it was uploaded.',
    headers: range,
    answers: byteRanges('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/chapters/{language}.vtt',
    summary: 'Chapters of a video',
    description: 'The file exactly as it was uploaded.',
    headers: range,
    answers: byteRanges('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/state',
    summary: 'State of a video, for the player page',
    answers: json('The state.', {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      title: 'Harbour at dawn',
      playable: true,
    }),
  },
];

const embedding = {
  query: { maxwidth: 'Maximum width in pixels.', maxheight: 'Maximum height in pixels.' },
  answers: json('The oEmbed response.', {
    version: '1.0',
    type: 'video',
    title: 'Harbour at dawn',
    width: 640,
    height: 360,
  }),
};

const videos: readonly DescribedPath[] = [
  {
    path: '/vod/{videoId}',
    tag: 'Delivery',
    summary: 'Player page of a video',
    description:
      'Open or embed it. The fragment controls the player, such as `#autoplay;muted;loop;t=10,20`: ' +
      '`autoplay`, `muted`, `loop`, `t`, `hide-title`, `hide-controls`, `hide-poster`, `show-subtitles`, `chromeless`, `api`.',
    ...pageSession,
    answers: {
      200: { description: 'The page.', types: [page] },
      404: { description: 'A page that says that the video does not exist.', types: [page] },
    },
  },
  {
    ...embedding,
    path: '/vod/{videoId}/oembed.json',
    tag: 'Delivery',
    summary: 'oEmbed of a public video',
  },
  ...videoAssets.map(({ asset, ...rest }) => ({ ...rest, path: `/vod/{videoId}${asset}`, tag: 'Delivery' })),
  ...videoAssets.map(({ asset, summary, query, headers, ...rest }) => ({
    ...rest,
    summary: `${summary}, private`,
    path: `/vod/{videoId}/token/{privateToken}${asset}`,
    tag: 'Delivery',
    query: { ...query, ...session.query },
    headers: { ...headers, ...session.headers },
  })),
  {
    path: '/vod/{videoId}/token/{privateToken}/session',
    tag: 'Delivery',
    summary: 'Session of a private video',
    description: 'Uses up the token and returns the session to send as `avh`. Valid for 24 hours.',
    ...session,
    answers: json('The session.', { session_token: '4b1f3c9e2a7d' }),
  },
  {
    path: '/vod/{videoId}/token/{privateToken}/access',
    tag: 'Delivery',
    summary: 'Access to a private video, for caches',
    description:
      'Lets a shared cache check each viewer before it serves the media of a private video. Uses up no token. Looks at the URL, and at `Origin`, `Referer` and the address of the viewer where sites or countries are restricted.',
    query: { avh: 'The session, from the URLs in the playlist.' },
    answers: {
      204: {
        description: 'The session or the signed token is valid.',
        headers: { 'Cache-Control': 'How long the cache can rely on it.' },
      },
      404: notFound,
    },
  },
];

/** Live assets at the root; private ones are below `/private/{privateToken}`. */
const liveAssets: readonly (Omit<DescribedPath, 'path' | 'tag'> & { readonly asset: string })[] = [
  {
    asset: '{liveStreamId}.m3u8',
    summary: 'Multivariant playlist of a live stream',
    answers: wholeFile('The playlist of the current broadcast.', playlistType),
  },
  {
    asset: '{liveStreamId}/{broadcastId}/{rendition}/index.m3u8',
    summary: 'Media playlist of a broadcast (low-latency HLS)',
    query: {
      _HLS_msn: 'Block until this segment is listed.',
      _HLS_part: 'Block until this part of the segment is listed.',
      _HLS_skip: '`YES` skips segments that the client already has.',
    },
    answers: {
      ...wholeFile('The playlist.', playlistType),
      400: { description: 'The delivery directives are invalid.', isError: true },
      503: { description: 'The segment or part did not arrive in time.', isError: true },
    },
  },
  {
    asset: '{liveStreamId}/{broadcastId}/{rendition}/{name}',
    summary: 'Initialization section, segment or part of a broadcast',
    headers: range,
    answers: byteRanges('Fragmented MP4.', 'video/mp4'),
  },
  {
    asset: '{liveStreamId}/thumbnail.jpg',
    summary: 'Thumbnail of a live stream',
    description:
      'The uploaded image. Without one, a frame of the broadcast, at most about ten seconds old while it is requested; ' +
      'otherwise a placeholder.',
    headers: range,
    answers: byteRanges('The image.', 'image/jpeg', 'image/png', 'image/webp'),
  },
];

const live: readonly DescribedPath[] = [
  {
    path: '/live/{liveStreamId}',
    tag: 'Delivery',
    summary: 'Player page of a live stream',
    description:
      'The fragment controls the player: `autoplay:false`, `muted`, `hide-title`, `hide-controls`, `hide-poster`, `chromeless`, `api`.',
    ...pageSession,
    answers: {
      200: { description: 'The page.', types: [page] },
      404: { description: 'A page that says that the live stream does not exist.', types: [page] },
    },
  },
  {
    ...embedding,
    path: '/live/{liveStreamId}/oembed.json',
    tag: 'Delivery',
    summary: 'oEmbed of a public live stream',
  },
  {
    path: '/live/{liveStreamId}/state',
    tag: 'Delivery',
    summary: 'State of a live stream',
    ...pageSession,
    answers: json('The state.', { live: true, broadcastId: 'br4Kd8sLq2Wm6Xr1Tz9Bn3Vc' }),
  },
  {
    path: '/live/{liveStreamId}/events',
    tag: 'Delivery',
    summary: 'State of a live stream at each change, as server-sent events',
    ...pageSession,
    answers: {
      200: { description: 'Events until the client disconnects.', types: ['text/event-stream'] },
      404: notFound,
      503: { ...busy, description: 'Too many pages are open. Poll the state instead.' },
    },
  },
  ...liveAssets.map(({ asset, ...rest }) => ({ ...rest, path: `/${asset}`, tag: 'Delivery' })),
  ...liveAssets.flatMap(({ asset, summary, query, headers, ...rest }) => {
    const own = {
      ...rest,
      summary: `${summary}, private`,
      tag: 'Delivery',
      query: { ...query, ...session.query },
      headers: { ...headers, ...session.headers },
    };
    const path = `/private/{privateToken}/${asset}`;
    if (!asset.includes('{rendition}')) return [{ ...own, path }];
    const shared = path.replace('{liveStreamId}/', '{liveStreamId}/avh-{session}/');
    return [
      { ...own, path },
      {
        ...rest,
        path: shared,
        tag: 'Delivery',
        summary: `${summary}, private, at the address in the playlist`,
        ...(query === undefined ? {} : { query }),
        ...(headers === undefined ? {} : { headers }),
      },
    ];
  }),
  {
    path: '/private/{privateToken}/{liveStreamId}/session',
    tag: 'Delivery',
    summary: 'Session of a private live stream',
    description: 'Uses up the token and returns the session to send as `avh`. Valid for 24 hours.',
    ...session,
    answers: json('The session.', { session_token: '4b1f3c9e2a7d' }),
  },
  {
    path: '/private/{privateToken}/{liveStreamId}/access',
    tag: 'Delivery',
    summary: 'Access to a private live stream, for caches',
    description:
      'Lets a shared cache check each viewer before it serves the media of a private live stream. Uses up no token. Looks at the URL, and at `Origin`, `Referer` and the address of the viewer where sites or countries are restricted.',
    query: { avh: 'The session, from the URLs in the playlist.' },
    answers: {
      204: {
        description: 'The session or the signed token is valid.',
        headers: { 'Cache-Control': 'How long the cache can rely on it.' },
      },
      404: notFound,
    },
  },
];

function appFiles(notFoundAnswer: DescribedAnswer): Record<number, DescribedAnswer> {
  const types = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'];
  return {
    200: { description: 'The file.', types, headers: cacheHeaders },
    304: notModified,
    404: notFoundAnswer,
  };
}

const pageAnswers: Record<number, DescribedAnswer> = {
  200: { description: 'The page.', types: [page], headers: cacheHeaders },
  304: notModified,
};

const pages: readonly DescribedPath[] = [
  {
    path: '/player/{playerId}/logo.{extension}',
    tag: 'Delivery',
    summary: 'Logo of a player theme',
    headers: range,
    answers: byteRanges('The image.', 'image/jpeg', 'image/png'),
  },
  {
    path: '/assets/{name}',
    tag: 'Delivery',
    summary: 'A file of the player pages',
    answers: appFiles(notFound),
  },
  {
    path: '/dashboard',
    tag: 'Documentation',
    summary: 'The dashboard',
    description: 'A single page, which is also served at every path below it except those of its files.',
    answers: pageAnswers,
  },
  {
    path: '/dashboard/assets/{name}',
    tag: 'Documentation',
    summary: 'A file of the dashboard',
    answers: appFiles(fileNotFound),
  },
  { path: '/docs', tag: 'Documentation', summary: 'The documentation', answers: pageAnswers },
  { path: '/docs/errors', tag: 'Documentation', summary: 'The list of all errors', answers: pageAnswers },
  {
    path: '/docs/assets/{name}',
    tag: 'Documentation',
    summary: 'A file of the documentation',
    answers: appFiles(fileNotFound),
  },
];

const refused: DescribedAnswer = {
  description: 'The signed token is not valid, or the site or country is not allowed.',
  isError: true,
};

export const deliveryPaths: readonly DescribedPath[] = [
  ...[...videos, ...live].map(path => ({ ...path, answers: { ...path.answers, 403: refused } })),
  ...pages,
];
