import { busy, byteRanges, json, notFound, wholeFile } from '../../http/openapi/path-answers.ts';
import { sheetColumns, slotMs, slotsPerSheet } from '../../shared/limits/live-storyboard.ts';
import { playlistType } from '../responses/response-sender.ts';
import { type DeliveryPath, deliveryPath, privateForm } from './delivery-path.ts';
import {
  cacheAccess,
  embedding,
  imageTypes,
  pageSession,
  playerPage,
  privateSession,
  range,
} from './shared-descriptions.ts';

/** Requests for media are the most frequent ones. */
const assets: readonly DeliveryPath[] = [
  deliveryPath(
    '/{liveStreamId}/{broadcastId}/{rendition}/index.m3u8',
    'playlist',
    ({ live }, exchange, path, query) => live.sendPlaylist(exchange, path, query),
    {
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
  ),
  deliveryPath(
    '/{liveStreamId}/{broadcastId}/{rendition}/{name}',
    'media',
    ({ live }, exchange, path, query) => live.sendMedia(exchange, path, query),
    {
      summary: 'Initialization section, segment or part of a broadcast',
      headers: range,
      answers: byteRanges('Fragmented MP4.', 'video/mp4'),
    },
  ),
  deliveryPath(
    '/{liveStreamId}/{broadcastId}/storyboard/{sheet}-{slots}.jpg',
    'storyboard',
    ({ live }, exchange, path, query) => live.sendStoryboard(exchange, path, query),
    {
      summary: 'Frames of a broadcast for the seek bar',
      description:
        `Each ${slotMs / 1000} seconds of the wall clock are a slot, and a sheet has the frames of ${slotsPerSheet} slots, ` +
        `${sheetColumns} in a row. \`sheet\` counts the sheets since 1970, and \`slots\` is how many slots the image needs to have. ` +
        'Frames are made on request, of the media that viewers can rewind to.',
      headers: range,
      answers: byteRanges('The image.', 'image/jpeg'),
    },
  ),
  deliveryPath(
    '/{liveStreamId}.m3u8',
    'multivariant',
    ({ live }, exchange, path, query) => live.sendMultivariant(exchange, path, query),
    {
      summary: 'Multivariant playlist of a live stream',
      answers: wholeFile('The playlist of the current broadcast.', playlistType),
    },
  ),
  deliveryPath(
    '/{liveStreamId}/thumbnail.jpg',
    'thumbnail',
    ({ live }, exchange, path, query) => live.sendThumbnail(exchange, path, query),
    {
      summary: 'Thumbnail of a live stream',
      description:
        'The uploaded image. Without one, a frame of the broadcast, at most about ten seconds old while it is requested; ' +
        'otherwise a placeholder.',
      headers: range,
      answers: byteRanges('The image.', ...imageTypes),
    },
  ),
];

export const livePaths: readonly DeliveryPath[] = [
  deliveryPath(
    '/live/{liveStreamId}',
    'page',
    ({ live }, exchange, { liveStreamId }, query) => live.sendPage(exchange, liveStreamId, query),
    playerPage(
      'live stream',
      'The fragment controls the player: `autoplay:false`, `muted`, `hide-title`, `hide-controls`, `hide-poster`, `chromeless`, `api`.',
    ),
    /^\/live\/(?:(li[0-9A-Za-z]{22})|[^/]*)\/?$/,
  ),
  deliveryPath(
    '/live/{liveStreamId}/oembed.json',
    'oembed',
    ({ live }, exchange, { liveStreamId }, query) =>
      live.sendEmbed(exchange, liveStreamId, new URLSearchParams(query)),
    embedding('live stream'),
  ),
  deliveryPath(
    '/live/{liveStreamId}/state',
    'state',
    ({ live }, exchange, { liveStreamId }, query) => live.sendState(exchange, liveStreamId, query),
    {
      summary: 'State of a live stream',
      ...pageSession,
      answers: json('The state.', { live: true, broadcastId: 'br4Kd8sLq2Wm6Xr1Tz9Bn3Vc' }),
    },
  ),
  deliveryPath(
    '/live/{liveStreamId}/player.json',
    'live-player',
    ({ live }, exchange, { liveStreamId }, query) => live.sendPlayer(exchange, liveStreamId, query),
    {
      summary: 'State of a live stream, for players on other pages',
      description: 'URLs are paths of the server.',
      ...pageSession,
      answers: json('The state.', {
        liveStreamId: 'li6Yv3NpLm8Kd2WsZq5Tc1Hb',
        title: 'Harbour at dawn',
        live: true,
        broadcastId: 'br4Kd8sLq2Wm6Xr1Tz9Bn3Vc',
        hls: '/li6Yv3NpLm8Kd2WsZq5Tc1Hb.m3u8',
      }),
    },
  ),
  deliveryPath(
    '/live/{liveStreamId}/start.ics',
    'calendar',
    ({ live }, exchange, { liveStreamId }) => live.sendCalendarEvent(exchange, liveStreamId),
    {
      summary: 'Planned start of a live stream, for calendars',
      description: 'While it is announced. Private live streams have none.',
      answers: {
        200: { description: 'An iCalendar file.', types: ['text/calendar; charset=utf-8'] },
        404: notFound,
      },
    },
  ),
  deliveryPath(
    '/live/{liveStreamId}/recording',
    'recording',
    ({ live }, exchange, { liveStreamId }, query) => live.sendRecording(exchange, liveStreamId, query),
    {
      summary: 'Recording of the last broadcast of a live stream',
      description: 'Once the broadcast has ended and everybody may watch its recording.',
      ...pageSession,
      answers: {
        ...json('The video.', { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', title: 'Harbour at dawn' }),
        204: { description: 'There is no recording yet, or not everybody may watch it.' },
      },
    },
  ),
  deliveryPath(
    '/live/{liveStreamId}/events',
    'events',
    ({ live }, exchange, { liveStreamId }, query) => live.openEvents(exchange, liveStreamId, query),
    {
      summary: 'State of a live stream at each change, as server-sent events',
      ...pageSession,
      answers: {
        200: { description: 'Events until the client disconnects.', types: ['text/event-stream'] },
        404: notFound,
        503: { ...busy, description: 'Too many pages are open. Poll the state instead.' },
      },
    },
  ),
  ...assets,
  ...assets.flatMap(asset => {
    const own = privateForm(`/private/{privateToken}${asset.path}`, asset);
    if (!asset.path.startsWith('/{liveStreamId}/')) return [own];
    const { path, kind, handle, description } = asset;
    // The addresses in playlists have the session.
    const shared = path.replace('{liveStreamId}/', '{liveStreamId}/avh-{session}/');
    const summary = `${description?.summary}, private, at the address in the playlist`;
    const isInPlaylist = path.includes('{broadcastId}');
    return [
      own,
      deliveryPath(
        `/private/{privateToken}${shared}`,
        kind,
        handle,
        isInPlaylist && description !== undefined ? { ...description, summary } : undefined,
      ),
    ];
  }),
  deliveryPath(
    '/private/{privateToken}/{liveStreamId}/session',
    'session',
    ({ live }, exchange, path, query) => live.sendSession(exchange, path, query),
    privateSession('live stream'),
  ),
  deliveryPath(
    '/private/{privateToken}/{liveStreamId}/access',
    'access',
    ({ live }, exchange, path, query) => live.sendAccess(exchange, path, query),
    cacheAccess('live stream'),
  ),
];
