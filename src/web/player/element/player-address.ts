import { type AddressOptions, parseAddress } from '../page-options.ts';

/** Address of a player page, from which the player finds its server. */
export interface PlayerAddress {
  readonly kind: 'live' | 'video';
  readonly id: string;
  /** URL of the server, with its base path and without a slash at the end. */
  readonly server: string;
  readonly token: string | undefined;
  /** Session of a private token that was used before. */
  readonly session: string | undefined;
  /** Options in the query and the fragment. */
  readonly options: AddressOptions;
}

/** @param base of relative addresses. @returns undefined for addresses that are not those of a player page */
export function parsePlayerAddress(address: string, base: string): PlayerAddress | undefined {
  const url = URL.parse(address, base);
  const found = /^(.*?)\/(?:live\/(li[0-9A-Za-z]+)|vod\/(vi[0-9A-Za-z]+))\/?$/.exec(url?.pathname ?? '');
  if (url === null || found === null || !/^https?:$/.test(url.protocol)) return undefined;
  const [, path = '', liveStreamId, videoId] = found;
  return {
    kind: liveStreamId === undefined ? 'video' : 'live',
    id: (liveStreamId ?? videoId)!,
    server: url.origin + path,
    token: url.searchParams.get('token') ?? undefined,
    session: url.searchParams.get('avh') ?? undefined,
    options: parseAddress(url.hash, url.search),
  };
}

/** A private token is for one viewer: it goes along, because without it nothing would be shown. */
export function embedUrl(page: string, token: string | undefined): string {
  return token === undefined ? page : `${page}?token=${encodeURIComponent(token)}`;
}
