import type { Placement } from '../../../../shared/limits/watermark-placement.ts';

export function placementJson(watermarkId: string, placement: Placement): string {
  return JSON.stringify({ id: watermarkId, ...placement }, null, 2);
}

export function placementRequest(origin: string, watermarkId: string, placement: Placement): string {
  const body = { title: 'My video', watermark: { id: watermarkId, ...placement } };
  return `curl -u "$API_KEY:" ${origin}/videos \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}
