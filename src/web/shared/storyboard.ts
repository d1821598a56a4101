import { parseCues } from '../../media/webvtt/cues.ts';

/** Seconds, and pixels of the whole image. */
export interface StoryboardTile {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly url: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Parses tiles such as `storyboard.jpg#xywh=160,90,160,90`. */
export function parseStoryboard(vtt: string, baseUrl: string): StoryboardTile[] {
  return parseCues(vtt).flatMap(({ startMs, endMs, text }) => {
    const found = /^(\S+)#xywh=(?:pixel:)?(\d{1,5}),(\d{1,5}),(\d{1,4}),(\d{1,4})$/.exec(text);
    if (found === null || !URL.canParse(found[1]!, baseUrl)) return [];
    const [x, y, width, height] = found.slice(2).map(Number) as [number, number, number, number];
    if (width === 0 || height === 0) return [];
    const url = new URL(found[1]!, baseUrl);
    // The query holds the session of a private video.
    if (url.search === '' && url.origin === new URL(baseUrl).origin) url.search = new URL(baseUrl).search;
    return [{ startSeconds: startMs / 1000, endSeconds: endMs / 1000, url: url.href, x, y, width, height }];
  });
}
