import { appFiles, byteRanges, notFound, wholeFile } from '../../http/openapi/path-answers.ts';
import type { DescribedAnswer, DescribedPath } from '../../http/openapi/path-items.ts';
import { scriptType } from '../responses/response-sender.ts';
import { channelPaths } from './channel-paths.ts';
import { type DeliveryPath, deliveryPath } from './delivery-path.ts';
import { livePaths } from './live-paths.ts';
import { range } from './shared-descriptions.ts';
import { vodPaths } from './vod-paths.ts';

const files: readonly DeliveryPath[] = [
  deliveryPath(
    '/player/{playerId}/logo.{extension}',
    'logo',
    (to, exchange, { playerId, extension }) => to.sendLogo(exchange, playerId, extension as 'png' | 'jpg'),
    {
      summary: 'Logo of a player theme',
      headers: range,
      answers: byteRanges('The image.', 'image/jpeg', 'image/png'),
    },
  ),
  deliveryPath('/player.js', 'player-element', (to, exchange) => to.sendElement(exchange), {
    summary: 'Script of the player element',
    description: 'A module for pages on any site, which defines the player element.',
    answers: wholeFile('The script.', scriptType),
  }),
  deliveryPath(
    '/assets/{name}',
    'asset',
    (to, exchange, { name }) => to.sendAsset(exchange, name),
    { summary: 'A file of the player pages', answers: appFiles(notFound) },
    /^\/assets\/(.*)$/s,
  ),
];

const refused: DescribedAnswer = {
  description: 'The signed token is not valid, or the site or country is not allowed.',
  isError: true,
};

/** Everything that viewers fetch, for the OpenAPI document. */
export const deliveryPaths: readonly DescribedPath[] = [
  ...[...vodPaths, ...livePaths]
    .flatMap(described)
    .map(path => ({ ...path, answers: { ...path.answers, 403: refused } })),
  ...[...channelPaths, ...files].flatMap(described),
];

/** Description of the parameters of the paths. */
export const deliveryNames: Readonly<Record<string, string>> = {
  videoId: 'Id of the video.',
  liveStreamId: 'Id of the live stream.',
  broadcastId: 'Id of the broadcast, from the playlist.',
  playerId: 'Id of the player theme.',
  privateToken:
    'The private token in `assets` of a private video or live stream, which is valid for one session; or a JSON Web Token that you sign.',
  session: 'The session, in URLs of the playlist.',
  rendition: 'A rendition such as `720p` or `audio`. `source` is a broadcast as it was received.',
  sheet: 'Number of the sheet: the Unix time of its first frame in milliseconds, divided by 100,000.',
  slots: 'How many frames the image needs to have, at most 20. It may have more.',
  height: 'Height of a rendition in pixels, such as `720`.',
  language: 'Language tag of the file.',
  extension: '`png` or `jpg`, as in the URL of the theme.',
  slug: 'Name of the channel in its address.',
  color: 'The color, in six hexadecimal digits.',
  name: 'File name, from the playlist or page.',
  code: 'Last part of the `type` of an error.',
};

function described({ path, description }: DeliveryPath): DescribedPath[] {
  return description === undefined ? [] : [{ path, tag: 'Delivery', ...description }];
}

/** A path that was found, bound to its parameters. */
export interface FoundPath {
  readonly kind: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly handle: DeliveryPath['handle'];
}

const privateVideo = /^\/vod\/[^/]*\/token\//;
const folders: ReadonlySet<string> = new Set(['vod', 'live', 'private', 'assets', 'player', 'channel']);
/** Paths by their beginning; those of live streams have none in common. */
const byFolder = Map.groupBy([...vodPaths, ...livePaths, ...channelPaths, ...files], ({ path }) =>
  folderOf(path),
);
/** Paths of viewers, even where nothing can be: the API answers all others, such as that of a bare id. */
const claimed =
  /^\/(?:vod|live|private|assets|player|channel)\/|^\/li[0-9A-Za-z]{22}.|^\/li.*(?:\/source\/|\/thumbnail\.jpg$)|\.m3u8$/s;
const missing: FoundPath = {
  kind: 'unknown',
  parameters: {},
  handle: (to, exchange) => to.sendMissing(exchange, 'no-store'),
};
const missingOfVideo: FoundPath = {
  ...missing,
  handle: (to, exchange) => to.sendMissing(exchange, 'no-cache'),
};

/** Decodes nothing: no path of viewers needs it. @returns undefined for paths of the API, and `unknown` where nothing can be */
export function findDeliveryPath(path: string): FoundPath | undefined {
  for (const { kind, pattern, names, handle } of byFolder.get(folderOf(path)) ?? []) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const parameters: Record<string, string> = {};
    for (const [at, name] of names.entries()) parameters[name] = match[at + 1] ?? '';
    return { kind, parameters, handle };
  }
  if (!claimed.test(path)) return undefined;
  return path.startsWith('/vod/') ? missingOfVideo : missing;
}

function folderOf(path: string): string {
  const folder = path.slice(1, path.indexOf('/', 1));
  if (folder === 'vod') return privateVideo.test(path) ? 'token' : folder;
  return folders.has(folder) ? folder : '';
}
