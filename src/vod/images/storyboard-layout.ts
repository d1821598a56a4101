import { formatCues } from '../../media/webvtt/cues.ts';

export interface StoryboardLayout {
  /** Even. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly tiles: number;
  readonly columns: number;
  readonly rows: number;
  readonly intervalSeconds: number;
}

const maxTiles = 100;
const maxColumns = 10;
const tileSide = 160;
const minIntervalSeconds = 1;

export function layoutStoryboard(video: {
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
}): StoryboardLayout {
  const { durationSeconds, width, height } = video;
  const tiles = Math.min(maxTiles, Math.max(1, Math.round(durationSeconds / minIntervalSeconds)));
  const columns = Math.min(maxColumns, tiles);
  const scale = tileSide / Math.max(width, height);
  return {
    tileWidth: evenSide(width * scale),
    tileHeight: evenSide(height * scale),
    tiles,
    columns,
    rows: Math.ceil(tiles / columns),
    intervalSeconds: durationSeconds / tiles,
  };
}

export function formatStoryboard(layout: StoryboardLayout, image: string): string {
  const { tiles, columns, tileWidth, tileHeight, intervalSeconds } = layout;
  const cues = Array.from({ length: tiles }, (_, index) => {
    const x = (index % columns) * tileWidth;
    const y = Math.floor(index / columns) * tileHeight;
    const from = Math.round(index * intervalSeconds * 1000);
    // Players drop cues without duration.
    const to = Math.max(from + 1, Math.round((index + 1) * intervalSeconds * 1000));
    return { startMs: from, endMs: to, text: `${image}#xywh=${x},${y},${tileWidth},${tileHeight}` };
  });
  return formatCues(cues);
}

function evenSide(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}
