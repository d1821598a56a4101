import type { Placement } from './placement.ts';

/** What stands as `watermark` in the body of a new video. */
export function placementJson(watermarkId: string, placement: Placement): string {
  return JSON.stringify({ id: watermarkId, ...placement }, null, 2);
}

/** A command that makes a video with it. @param origin of this server, such as `https://live.example.net` */
export function placementRequest(origin: string, watermarkId: string, placement: Placement): string {
  const body = { title: 'My video', watermark: { id: watermarkId, ...placement } };
  return `curl -u "$API_KEY:" ${origin}/videos \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}
