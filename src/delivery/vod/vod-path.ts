import { tokenSource } from '../viewer-path.ts';

export type VodAsset =
  | { readonly kind: 'vod-multivariant' | 'vod-thumbnail' | 'vod-state' | 'vod-session' }
  /** A quality such as `720p` or `av1-720p`, or `audio`. */
  | { readonly kind: 'vod-playlist'; readonly rendition: string }
  /** `language` is a tag in any case. */
  | { readonly kind: 'vod-captions-playlist'; readonly language: string }
  | { readonly kind: 'vod-media'; readonly rendition: string; readonly name: string }
  | { readonly kind: 'vod-mp4'; readonly quality: string | undefined }
  | { readonly kind: 'vod-storyboard'; readonly form: 'image' | 'text' }
  | { readonly kind: 'vod-text-track'; readonly track: 'captions' | 'chapters'; readonly language: string };

export type VodPath =
  /** `videoId` is `''` where the path holds no id. */
  | { readonly kind: 'vod-page'; readonly videoId: string }
  | { readonly kind: 'vod-sample' }
  | { readonly kind: 'vod-oembed'; readonly videoId: string }
  | { readonly kind: 'vod-access'; readonly videoId: string; readonly token: string }
  | {
      readonly kind: 'vod-asset';
      readonly videoId: string;
      readonly token: string | undefined;
      readonly asset: VodAsset;
    }
  | { readonly kind: 'unknown' };

const unknown: VodPath = { kind: 'unknown' };
const prefix = '/vod/';
const samplePath = '/vod/sample';
const idPattern = /^vi[0-9A-Za-z]{22}$/;
const tokenPattern = new RegExp(`^(${tokenSource})$`);
const hlsPattern = /^\/hls\/(?:([0-9a-z-]{1,16})\/)?([\w-][\w.-]{0,63})$/;
const captionsPattern = /^\/hls\/captions\/([A-Za-z0-9-]{2,35})\.m3u8$/;
const trackPattern = /^\/(captions|chapters)\/([A-Za-z0-9-]{2,35})\.vtt$/;
const mp4Pattern = /^\/mp4\/(?:(\d{1,5})\/)?source\.mp4$/;
const fixedAssets: Readonly<Record<string, VodAsset>> = {
  '/thumbnail.jpg': { kind: 'vod-thumbnail' },
  '/storyboard.jpg': { kind: 'vod-storyboard', form: 'image' },
  '/storyboard.vtt': { kind: 'vod-storyboard', form: 'text' },
  '/state': { kind: 'vod-state' },
};

/** Decodes nothing: no path here needs it. @returns undefined for paths outside of `/vod/` */
export function parseVodPath(path: string): VodPath | undefined {
  if (!path.startsWith(prefix)) return undefined;
  if (path === samplePath) return { kind: 'vod-sample' };
  const idEnd = indexOrEnd(path, prefix.length);
  const videoId = path.slice(prefix.length, idEnd);
  const rest = path.slice(idEnd);
  const isVideoId = idPattern.test(videoId);
  if (rest === '' || rest === '/') return { kind: 'vod-page', videoId: isVideoId ? videoId : '' };
  if (!isVideoId) return unknown;
  if (rest === '/oembed.json') return { kind: 'vod-oembed', videoId };
  if (!rest.startsWith('/token/')) return assetPath(videoId, undefined, rest);
  const tokenStart = '/token/'.length;
  const tokenEnd = indexOrEnd(rest, tokenStart);
  const token = rest.slice(tokenStart, tokenEnd);
  if (!tokenPattern.test(token)) return unknown;
  const asset = rest.slice(tokenEnd);
  return asset === '/access' ? { kind: 'vod-access', videoId, token } : assetPath(videoId, token, asset);
}

function assetPath(videoId: string, token: string | undefined, rest: string): VodPath {
  const asset = parseAsset(rest, token !== undefined);
  return asset === undefined ? unknown : { kind: 'vod-asset', videoId, token, asset };
}

function parseAsset(rest: string, isPrivate: boolean): VodAsset | undefined {
  const [, captions] = captionsPattern.exec(rest) ?? [];
  if (captions !== undefined) return { kind: 'vod-captions-playlist', language: captions };
  const [, rendition, name = ''] = hlsPattern.exec(rest) ?? [];
  if (rendition !== undefined) {
    return name === 'manifest.m3u8'
      ? { kind: 'vod-playlist', rendition }
      : { kind: 'vod-media', rendition, name };
  }
  if (name !== '') return name === 'manifest.m3u8' ? { kind: 'vod-multivariant' } : undefined;
  if (Object.hasOwn(fixedAssets, rest)) return fixedAssets[rest];
  if (rest === '/session') return isPrivate ? { kind: 'vod-session' } : undefined;
  const [, track, language] = trackPattern.exec(rest) ?? [];
  if (track !== undefined && language !== undefined) {
    return { kind: 'vod-text-track', track: track as 'captions' | 'chapters', language };
  }
  const mp4 = mp4Pattern.exec(rest);
  if (mp4 === null) return undefined;
  return { kind: 'vod-mp4', quality: mp4[1] === undefined ? undefined : `${mp4[1]}p` };
}

function indexOrEnd(path: string, from: number): number {
  const at = path.indexOf('/', from);
  return at === -1 ? path.length : at;
}
