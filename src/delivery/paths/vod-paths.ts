import { byteRanges, json, wholeFile } from '../../http/openapi/path-answers.ts';
import type { DescribedAnswer } from '../../http/openapi/path-items.ts';
import type { Exchange } from '../responses/exchange.ts';
import { playlistType } from '../responses/response-sender.ts';
import type { VideoUse, VodDelivery } from '../vod/vod-delivery.ts';
import type { AdmittedVideo } from '../vod/vod-gate.ts';
import { type DeliveryPath, deliveryPath, type ParametersOf, privateForm } from './delivery-path.ts';
import {
  cacheAccess,
  embedding,
  imageTypes,
  type PathDescription,
  playerPage,
  privateSession,
  range,
} from './shared-descriptions.ts';

const textTrackType = 'text/vtt; charset=utf-8';
const download = { dl: '`1` makes browsers save the file.' };
const inStorage: DescribedAnswer = {
  description: 'The file is in object storage.',
  headers: { Location: 'Where it is, for a limited time.' },
};
const notYet: DescribedAnswer = {
  description: 'Not playable yet. Try again later.',
  headers: { 'Retry-After': 'Seconds to wait.' },
};

const playback: VideoUse = { isMedia: true, beginsPlayback: true };
/** Shows much of the video. A thumbnail only announces it. */
const excerpt: VideoUse = { beginsPlayback: true };

interface AssetRequest {
  readonly vod: VodDelivery;
  readonly exchange: Exchange;
  readonly video: AdmittedVideo;
  readonly query: URLSearchParams;
}

/** A path of a video's folder, which requests are admitted to. */
function asset<const Path extends string>(
  path: Path,
  kind: string,
  use: VideoUse,
  answer: (request: AssetRequest, parameters: ParametersOf<Path>) => void,
  description?: PathDescription,
): DeliveryPath {
  return deliveryPath(
    `/vod/{videoId}${path}` as '/vod/{videoId}',
    kind,
    ({ vod }, exchange, parameters, text) => {
      const query = new URLSearchParams(text);
      vod.respond(exchange, { ...parameters, query, ...use }, video =>
        answer({ vod, exchange, video, query }, parameters as unknown as ParametersOf<Path>),
      );
    },
    description,
  );
}

/** Requests for media are the most frequent ones. */
const assets: readonly DeliveryPath[] = [
  asset(
    '/hls/captions/{language}.m3u8',
    'vod-captions-playlist',
    playback,
    ({ vod, exchange, video }, { language }) => vod.sendCaptionsPlaylist(exchange, language, video),
    {
      summary: 'Playlist of the captions in one language',
      description: 'Its only segment is the captions file.',
      answers: wholeFile('The playlist.', playlistType),
    },
  ),
  asset(
    '/hls/{rendition}/manifest.m3u8',
    'vod-playlist',
    playback,
    ({ vod, exchange, video }, { rendition }) => vod.sendPlaylist(exchange, rendition, video),
    { summary: 'Playlist of a rendition', answers: wholeFile('The playlist.', playlistType) },
  ),
  asset(
    '/hls/{rendition}/{name}',
    'vod-media',
    { isMedia: true },
    ({ vod, exchange, video }, { rendition, name }) => vod.sendMedia(exchange, rendition, name, video),
    {
      summary: 'Initialization section or segment of a video',
      headers: range,
      answers: byteRanges('Fragmented MP4.', 'video/mp4', 'audio/mp4'),
    },
  ),
  asset(
    '/hls/manifest.m3u8',
    'vod-multivariant',
    playback,
    ({ vod, exchange, video }) => vod.sendMultivariant(exchange, video),
    {
      summary: 'Multivariant playlist of a video',
      description: 'Renditions are added as they are finished.',
      answers: { ...wholeFile('The playlist.', playlistType), 202: notYet },
    },
  ),
  asset(
    '/mp4/source.mp4',
    'vod-mp4',
    playback,
    ({ vod, exchange, video, query }) => vod.sendMp4(exchange, undefined, video, query),
    {
      summary: 'A video as an MP4 file',
      description: 'The best rendition. Only if `mp4Support` is on.',
      query: download,
      headers: range,
      answers: { ...byteRanges('The file.', 'video/mp4'), 202: notYet, 302: inStorage },
    },
  ),
  asset(
    '/mp4/{height}/source.mp4',
    'vod-mp4',
    playback,
    ({ vod, exchange, video, query }, { height }) => vod.sendMp4(exchange, `${height}p`, video, query),
    {
      summary: 'A rendition as an MP4 file',
      query: download,
      headers: range,
      answers: { ...byteRanges('The file.', 'video/mp4'), 302: inStorage },
    },
  ),
  asset(
    '/thumbnail.jpg',
    'vod-thumbnail',
    {},
    ({ vod, exchange, video, query }) =>
      vod.sendThumbnail(exchange, video, query.get('placeholder') !== 'none'),
    {
      summary: 'Thumbnail of a video',
      description: 'A placeholder until there is one. Uploaded images keep their format.',
      query: { placeholder: '`none` returns 204 instead of the placeholder.' },
      headers: range,
      answers: {
        ...byteRanges('The image.', ...imageTypes),
        204: { description: 'There is no thumbnail yet.' },
      },
    },
  ),
  asset(
    '/storyboard.jpg',
    'vod-storyboard',
    excerpt,
    ({ vod, exchange, video }) => vod.sendStoryboard(exchange, 'image', video),
    {
      summary: 'Storyboard: small frames of a video in one image',
      headers: range,
      answers: byteRanges('The image.', 'image/jpeg'),
    },
  ),
  asset(
    '/storyboard.vtt',
    'vod-storyboard',
    excerpt,
    ({ vod, exchange, video }) => vod.sendStoryboard(exchange, 'text', video),
    { summary: 'Index of the storyboard', answers: wholeFile('A WebVTT file.', textTrackType) },
  ),
  ...(['captions', 'chapters'] as const).map(track =>
    asset(
      `/${track}/{language}.vtt`,
      'vod-text-track',
      excerpt,
      ({ vod, exchange, video }, { language }) => vod.sendTextTrack(exchange, track, language, video),
      {
        summary: `${track === 'captions' ? 'Captions' : 'Chapters'} of a video`,
        description: 'The file exactly as it was uploaded.',
        headers: range,
        answers: byteRanges('A WebVTT file.', textTrackType),
      },
    ),
  ),
  asset('/state', 'vod-state', {}, ({ vod, exchange, video }) => vod.sendState(exchange, video), {
    summary: 'State of a video, for the player page',
    answers: json('The state.', {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      title: 'Harbour at dawn',
      playable: true,
    }),
  }),
];

export const vodPaths: readonly DeliveryPath[] = [
  ...assets,
  deliveryPath('/vod/sample', 'vod-sample', (to, exchange) => to.sendSample(exchange)),
  deliveryPath(
    '/vod/{videoId}',
    'vod-page',
    ({ vod }, exchange, { videoId }, query) => vod.sendPage(exchange, videoId, new URLSearchParams(query)),
    playerPage(
      'video',
      'Open or embed it. The fragment controls the player, such as `#autoplay;muted;loop;t=10,20`: ' +
        '`autoplay`, `muted`, `loop`, `t`, `hide-title`, `hide-controls`, `hide-poster`, `show-subtitles`, `chromeless`, `api`.',
    ),
    /^\/vod\/(?:(vi[0-9A-Za-z]{22})|[^/]*)\/?$/,
  ),
  deliveryPath(
    '/vod/{videoId}/oembed.json',
    'vod-oembed',
    ({ vod }, exchange, { videoId }, query) => vod.sendEmbed(exchange, videoId, new URLSearchParams(query)),
    embedding('video'),
  ),
  ...assets.map(path =>
    privateForm(path.path.replace('/vod/{videoId}', '/vod/{videoId}/token/{privateToken}'), path),
  ),
  asset(
    '/token/{privateToken}/session',
    'vod-session',
    {},
    ({ vod, exchange, video }) => vod.sendSession(exchange, video),
    privateSession('video'),
  ),
  deliveryPath(
    '/vod/{videoId}/token/{privateToken}/access',
    'vod-access',
    ({ vod }, exchange, { videoId, privateToken }, query) =>
      vod.sendAccess(exchange, videoId, privateToken, new URLSearchParams(query).get('avh') ?? undefined),
    cacheAccess('video'),
  ),
];
