import type { PrivateAccess } from './private-sessions.ts';

export interface PrivatePath {
  readonly token?: string;
  readonly session?: string;
}

/** `unknown` looks like a viewer's path, but nothing can be there. */
export type ViewerPath =
  | (PrivatePath & { readonly kind: 'multivariant' | 'thumbnail'; readonly liveStreamId: string })
  | { readonly kind: 'session' | 'access'; readonly liveStreamId: string; readonly token: string }
  | { readonly kind: 'state' | 'events' | 'oembed'; readonly liveStreamId: string }
  /** `liveStreamId` is `''` where the path holds no id. */
  | { readonly kind: 'page'; readonly liveStreamId: string }
  | (PrivatePath & {
      readonly kind: 'playlist';
      readonly liveStreamId: string;
      readonly broadcastId: string;
      readonly rendition: string;
    })
  | (PrivatePath & {
      readonly kind: 'media';
      readonly liveStreamId: string;
      readonly broadcastId: string;
      readonly rendition: string;
      readonly name: string;
    })
  | { readonly kind: 'asset'; readonly name: string }
  | { readonly kind: 'logo'; readonly playerId: string; readonly extension: 'png' | 'jpg' }
  | { readonly kind: 'unknown' };

const logoPattern = /^\/player\/(pl[0-9A-Za-z]{22})\/logo\.(png|jpg)$/;
const renditionPattern = /^(source|audio(-[a-z]+)?(-\d{1,3})?|\d{2,4}p(-\d{1,3})?)$/;
/** Pattern of a private token (UUID), or of a signed one (JSON Web Token). */
export const tokenSource = '[0-9a-f-]{36}|[\\w-]+\\.[\\w-]+\\.[\\w-]*';
const privatePattern = new RegExp(`^/private/(${tokenSource})(/.*)$`);
const sessionPattern = /^avh-([\w-]{1,64})$/;
const idLength = 24;
const maxNameLength = 64;
const unknown: ViewerPath = { kind: 'unknown' };

/** Decodes nothing: no viewer's path needs it. @returns undefined for paths of the API */
export function parseViewerPath(path: string): ViewerPath | undefined {
  if (path.startsWith('/li')) {
    if (path.startsWith('/live/')) return parsePlayerPath(path);
    const liveStreamId = path.slice(1, 1 + idLength);
    if (isLiveStreamId(liveStreamId)) return parseStreamPath(path, liveStreamId);
    if (path.includes('/source/') || path.endsWith('/thumbnail.jpg')) return unknown;
  } else if (path.startsWith('/private/')) {
    return parsePrivatePath(path);
  } else if (path.startsWith('/assets/')) {
    return { kind: 'asset', name: path.slice('/assets/'.length) };
  } else if (path.startsWith('/player/')) {
    const [, playerId, extension] = logoPattern.exec(path) ?? [];
    if (playerId === undefined) return unknown;
    return { kind: 'logo', playerId, extension: extension as 'png' | 'jpg' };
  }
  return path.endsWith('.m3u8') ? unknown : undefined;
}

/**
 * Media playlists have relative URIs, so they are rendered once for all sessions.
 * @param mediaUrl base address of the server that has the media; undefined for relative addresses
 */
export function addressPlaylist(
  playlist: string,
  liveStreamId: string,
  access: PrivateAccess | undefined,
  mediaUrl: string | undefined,
): string {
  if (mediaUrl === undefined && access === undefined) return playlist;
  const folder = access === undefined ? '' : `/private/${access.token}`;
  const root = mediaUrl === undefined ? '' : `${mediaUrl}${folder}/`;
  const session = access?.avh === undefined ? '' : `avh-${access.avh}/`;
  return playlist.replaceAll(`${liveStreamId}/`, `${root}${liveStreamId}/${session}`);
}

function isLiveStreamId(text: string): boolean {
  if (text.length !== idLength || !text.startsWith('li')) return false;
  for (let at = 2; at < idLength; at++) {
    const code = text.charCodeAt(at);
    const isBase62 = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    if (!isBase62) return false;
  }
  return true;
}

function parseStreamPath(path: string, liveStreamId: string): ViewerPath | undefined {
  const idEnd = 1 + idLength;
  // The API answers 404 to a bare id.
  if (path.length === idEnd) return undefined;
  if (path.charCodeAt(idEnd) !== 47) {
    return path.length === idEnd + 5 && path.endsWith('.m3u8')
      ? { kind: 'multivariant', liveStreamId }
      : unknown;
  }
  const broadcastEnd = path.indexOf('/', idEnd + 1);
  if (broadcastEnd === -1) {
    return path.length === idEnd + 14 && path.endsWith('/thumbnail.jpg')
      ? { kind: 'thumbnail', liveStreamId }
      : unknown;
  }
  const renditionEnd = path.indexOf('/', broadcastEnd + 1);
  if (renditionEnd === -1) return unknown;
  const broadcastId = path.slice(idEnd + 1, broadcastEnd);
  const rendition = path.slice(broadcastEnd + 1, renditionEnd);
  const name = path.slice(renditionEnd + 1);
  if (!renditionPattern.test(rendition)) return unknown;
  if (broadcastId === '' || broadcastId.length > maxNameLength) return unknown;
  if (name === '' || name.length > maxNameLength || name.includes('/')) return unknown;
  if (name === 'index.m3u8') return { kind: 'playlist', liveStreamId, broadcastId, rendition };
  return { kind: 'media', liveStreamId, broadcastId, rendition, name };
}

function parsePrivatePath(path: string): ViewerPath {
  const [, token, rest] = privatePattern.exec(path) ?? [];
  if (token === undefined || rest === undefined) return unknown;
  const liveStreamId = rest.slice(1, 1 + idLength);
  if (!isLiveStreamId(liveStreamId)) return unknown;
  const below = rest.slice(1 + idLength);
  if (below === '/session') return { kind: 'session', liveStreamId, token };
  if (below === '/access') return { kind: 'access', liveStreamId, token };
  const sessionEnd = below.indexOf('/', 1);
  const [, session] = (sessionEnd !== -1 && sessionPattern.exec(below.slice(1, sessionEnd))) || [];
  const asset = session === undefined ? rest : `/${liveStreamId}${below.slice(sessionEnd)}`;
  const found = parseStreamPath(asset, liveStreamId) ?? unknown;
  if (found.kind === 'unknown') return unknown;
  return { ...found, token, ...(session === undefined ? {} : { session }) } as ViewerPath;
}

function parsePlayerPath(path: string): ViewerPath {
  const idStart = '/live/'.length;
  const idEnd = path.indexOf('/', idStart);
  const id = idEnd === -1 ? path.slice(idStart) : path.slice(idStart, idEnd);
  const liveStreamId = isLiveStreamId(id) ? id : '';
  const rest = idEnd === -1 ? '' : path.slice(idEnd);
  if (rest === '' || rest === '/') return { kind: 'page', liveStreamId };
  if (liveStreamId === '') return unknown;
  if (rest === '/state') return { kind: 'state', liveStreamId };
  if (rest === '/events') return { kind: 'events', liveStreamId };
  if (rest === '/oembed.json') return { kind: 'oembed', liveStreamId };
  return unknown;
}
