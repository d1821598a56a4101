import type { DescribedAnswer, DescribedPath } from './path-items.ts';

/** What the names in the paths of delivery mean. */
export const deliveryNames: Readonly<Record<string, string>> = {
  videoId: 'Id of the video.',
  liveStreamId: 'Id of the live stream.',
  broadcastId: 'Id of the broadcast, as the playlist names it.',
  playerId: 'Id of the player theme.',
  privateToken:
    'The private token that `assets` of a private video or live stream show; good for one session.',
  session: 'The session, where the playlist has it in its addresses.',
  rendition: 'A quality such as `720p`, or `audio`; `source` is what a broadcast came in as.',
  height: 'Height of a quality in pixels, such as `720`.',
  language: 'Language tag of the file.',
  extension: '`png` or `jpg`, as the address in the theme has it.',
  name: 'As the playlist or page names it.',
  code: 'Last part of the `type` of an error.',
};

const playlistType = 'application/vnd.apple.mpegurl';
const page = 'text/html; charset=utf-8';
const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

const cacheHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'How long it may be kept.',
  ETag: 'Names this form of it.',
};
const fileNotFound: DescribedAnswer = {
  description: 'There is no such file.',
  types: ['application/json'],
  schema: { $ref: '#/components/schemas/Error' },
};
const notFound: DescribedAnswer = {
  description: 'There is nothing here, or it may not be seen.',
  isError: true,
};
const notModified: DescribedAnswer = {
  description: 'What `If-None-Match` names is still right.',
  headers: cacheHeaders,
};
const notYet: DescribedAnswer = {
  description: 'Nothing can be played yet; ask again.',
  headers: { 'Retry-After': 'Seconds to wait.' },
};
const busy: DescribedAnswer = {
  description: 'Too many answers are on their way.',
  isError: true,
  headers: { 'Retry-After': 'Seconds to wait.' },
};

/** Something whose bytes can be asked for in ranges. */
function byteRanges(description: string, ...types: string[]): Record<number, DescribedAnswer> {
  const headers = { ...cacheHeaders, 'Accept-Ranges': '`bytes`.' };
  return {
    200: { description, types, schema: binary, headers },
    206: {
      description: 'The range that was asked for.',
      types,
      schema: binary,
      headers: { ...headers, 'Content-Range': 'Which bytes these are.' },
    },
    304: notModified,
    404: notFound,
    416: { description: 'The range lies outside of the file.', isError: true },
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

const range = { Range: 'Bytes that are wanted, such as `bytes=0-1023`.' };
const session = {
  query: { avh: 'The session of what is private.' },
  headers: { 'X-Token-Session': 'The same as `avh`.' },
};

const pageSession = {
  query: { token: 'The private token of what is private.', ...session.query },
  headers: session.headers,
};

/** Assets of a video, below `/vod/{videoId}` and, of a private one, below `/vod/{videoId}/token/{privateToken}`. */
const videoAssets: readonly (Omit<DescribedPath, 'path' | 'tag'> & { readonly asset: string })[] = [
  {
    asset: '/hls/manifest.m3u8',
    summary: 'Multivariant playlist of a video',
    description: 'More qualities are in it as they are finished.',
    answers: { ...wholeFile('The playlist.', playlistType), 202: notYet },
  },
  {
    asset: '/hls/{rendition}/manifest.m3u8',
    summary: 'Playlist of one quality',
    answers: wholeFile('The playlist.', playlistType),
  },
  {
    asset: '/hls/captions/{language}.m3u8',
    summary: 'Playlist of the captions in one language',
    description: 'Its one segment is the file of the captions.',
    answers: wholeFile('The playlist.', playlistType),
  },
  {
    asset: '/hls/{rendition}/{name}',
    summary: 'Initialisation section or segment of a video',
    headers: range,
    answers: byteRanges('Fragmented MP4.', 'video/mp4', 'audio/mp4'),
  },
  {
    asset: '/mp4/source.mp4',
    summary: 'A video as one MP4 file',
    description: 'The best quality. Only where `mp4Support` is on.',
    query: { dl: '`1` has browsers save the file.' },
    headers: range,
    answers: { ...byteRanges('The file.', 'video/mp4'), 202: notYet },
  },
  {
    asset: '/mp4/{height}/source.mp4',
    summary: 'One quality of a video as MP4 file',
    query: { dl: '`1` has browsers save the file.' },
    headers: range,
    answers: byteRanges('The file.', 'video/mp4'),
  },
  {
    asset: '/thumbnail.jpg',
    summary: 'Thumbnail of a video',
    description: 'Until there is one, a placeholder. An uploaded image keeps its format.',
    query: { placeholder: '`none` gets 204 in place of the placeholder.' },
    headers: range,
    answers: {
      ...byteRanges('The image.', 'image/jpeg', 'image/png', 'image/webp'),
      204: { description: 'There is no thumbnail yet.' },
    },
  },
  {
    asset: '/storyboard.jpg',
    summary: 'Small frames of a video in one image',
    headers: range,
    answers: byteRanges('The image.', 'image/jpeg'),
  },
  {
    asset: '/storyboard.vtt',
    summary: 'Which frame of the storyboard belongs to which time',
    answers: wholeFile('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/captions/{language}.vtt',
    summary: 'Captions of a video',
    description: 'The file as it was uploaded, whatever is in it.',
    headers: range,
    answers: byteRanges('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/chapters/{language}.vtt',
    summary: 'Chapters of a video',
    description: 'The file as it was uploaded, whatever is in it.',
    headers: range,
    answers: byteRanges('A WebVTT file.', 'text/vtt; charset=utf-8'),
  },
  {
    asset: '/state',
    summary: 'What the player page knows of its video',
    answers: json('The state.', {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      title: 'Harbour at dawn',
      playable: true,
    }),
  },
];

const embedding = {
  query: { maxwidth: 'Room for the player in pixels.', maxheight: 'The same in height.' },
  answers: json('What other sites need.', {
    ...{ version: '1.0', type: 'video', title: 'Harbour at dawn', width: 640, height: 360 },
  }),
};

const videos: readonly DescribedPath[] = [
  {
    path: '/vod/{videoId}',
    tag: 'Delivery',
    summary: 'Player page of a video',
    description:
      'To be opened or embedded. The fragment tells the player what to do, such as `#autoplay;muted;loop;t=10,20`: ' +
      '`autoplay`, `muted`, `loop`, `t`, `hide-title`, `hide-controls`, `hide-poster`, `show-subtitles`, `chromeless`, `api`.',
    ...pageSession,
    answers: {
      200: { description: 'The page.', types: [page] },
      404: { description: 'A page that says that there is no video.', types: [page] },
    },
  },
  {
    ...embedding,
    path: '/vod/{videoId}/oembed.json',
    tag: 'Delivery',
    summary: 'How to embed a public video (oEmbed)',
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
    description: 'Uses the token up, and shows who has its session what to send as `avh`. Good for 24 hours.',
    ...session,
    answers: json('The session.', { session_token: '4b1f3c9e2a7d' }),
  },
];

/** What there is of a live stream, at the root and, of a private one, below `/private/{privateToken}`. */
const liveAssets: readonly (Omit<DescribedPath, 'path' | 'tag'> & { readonly asset: string })[] = [
  {
    asset: '{liveStreamId}.m3u8',
    summary: 'Multivariant playlist of a live stream',
    answers: wholeFile('The playlist of what is on now.', playlistType),
  },
  {
    asset: '{liveStreamId}/{broadcastId}/{rendition}/index.m3u8',
    summary: 'Media playlist of a broadcast (low-latency HLS)',
    query: {
      _HLS_msn: 'Hold the answer until this segment is listed.',
      _HLS_part: 'And this part of it.',
      _HLS_skip: '`YES` leaves out what the client has.',
    },
    answers: {
      ...wholeFile('The playlist.', playlistType),
      400: { description: 'The directives make no sense.', isError: true },
      503: { description: 'What was asked for did not come in time.', isError: true },
    },
  },
  {
    asset: '{liveStreamId}/{broadcastId}/{rendition}/{name}',
    summary: 'Initialisation section, segment or part of a broadcast',
    headers: range,
    answers: byteRanges('Fragmented MP4.', 'video/mp4'),
  },
  {
    asset: '{liveStreamId}/thumbnail.jpg',
    summary: 'Thumbnail of a live stream',
    description:
      'The uploaded image. Without one, a frame of what is on, not older than about ten seconds while somebody asks for it; ' +
      'else a placeholder.',
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
      'The fragment tells the player what to do: `autoplay:false`, `muted`, `hide-title`, `hide-controls`, `hide-poster`, `chromeless`, `api`.',
    ...pageSession,
    answers: {
      200: { description: 'The page.', types: [page] },
      404: { description: 'A page that says that there is no stream.', types: [page] },
    },
  },
  {
    ...embedding,
    path: '/live/{liveStreamId}/oembed.json',
    tag: 'Delivery',
    summary: 'How to embed a public live stream (oEmbed)',
  },
  {
    path: '/live/{liveStreamId}/state',
    tag: 'Delivery',
    summary: 'Whether a live stream is on',
    ...pageSession,
    answers: json('The state.', { live: true, broadcastId: 'br4Kd8sLq2Wm6Xr1Tz9Bn3Vc' }),
  },
  {
    path: '/live/{liveStreamId}/events',
    tag: 'Delivery',
    summary: 'The same at each change, as server-sent events',
    ...pageSession,
    answers: {
      200: { description: 'Events, until the client leaves.', types: ['text/event-stream'] },
      404: notFound,
      503: { ...busy, description: 'Too many pages are open; ask for the state instead.' },
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
    const carried = path.replace('{liveStreamId}/', '{liveStreamId}/avh-{session}/');
    return [
      { ...own, path },
      {
        ...{ ...rest, path: carried, tag: 'Delivery' },
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
    description: 'Uses the token up, and shows who has its session what to send as `avh`. Good for 24 hours.',
    ...session,
    answers: json('The session.', { session_token: '4b1f3c9e2a7d' }),
  },
];

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
    summary: 'A file that the player pages name',
    answers: {
      200: {
        description: 'The file.',
        types: ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'],
        headers: cacheHeaders,
      },
      304: notModified,
      404: notFound,
    },
  },
  {
    path: '/dashboard',
    tag: 'Documentation',
    summary: 'The dashboard, to be used in a browser',
    description: 'One page; every address below it but those of its files is answered with it too.',
    answers: { 200: { description: 'The page.', types: [page], headers: cacheHeaders }, 304: notModified },
  },
  {
    path: '/dashboard/assets/{name}',
    tag: 'Documentation',
    summary: 'A file that the dashboard names',
    answers: {
      200: {
        description: 'The file.',
        types: ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'],
        headers: cacheHeaders,
      },
      304: notModified,
      404: fileNotFound,
    },
  },
  {
    path: '/docs',
    tag: 'Documentation',
    summary: 'The documentation, to be read in a browser',
    answers: { 200: { description: 'The page.', types: [page], headers: cacheHeaders }, 304: notModified },
  },
  {
    path: '/docs/errors',
    tag: 'Documentation',
    summary: 'All errors, to be read in a browser',
    answers: { 200: { description: 'The page.', types: [page], headers: cacheHeaders }, 304: notModified },
  },
  {
    path: '/docs/assets/{name}',
    tag: 'Documentation',
    summary: 'A file that the documentation names',
    answers: {
      200: {
        description: 'The file.',
        types: ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'],
        headers: cacheHeaders,
      },
      304: notModified,
      404: fileNotFound,
    },
  },
];

/** What delivery and the documentation answer beside the API. */
export const deliveryPaths: readonly DescribedPath[] = [...videos, ...live, ...pages];
