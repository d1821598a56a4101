import { cueAt } from '../../../../shared/cue-at.ts';
import type { StoryboardTile } from '../../../../shared/storyboard.ts';

interface TileStyle {
  readonly backgroundImage: string;
  readonly backgroundSize: string;
  readonly backgroundPosition: string;
  readonly aspectRatio: string;
}

/** The lowest common frame rate. The server takes the nearest frame. */
export const frameSeconds = 1 / 25;

/** Finds the tile at a time. The last one covers the end, too, because durations are rounded. */
export function tileAt(tiles: readonly StoryboardTile[], seconds: number): StoryboardTile | undefined {
  return cueAt(tiles, seconds) ?? (seconds > 0 ? tiles.at(-1) : tiles[0]);
}

export function sampleTiles(tiles: readonly StoryboardTile[], count: number): StoryboardTile[] {
  const shown = Math.min(count, tiles.length);
  return Array.from(
    { length: shown },
    (_, index) => tiles[Math.floor(((index + 0.5) * tiles.length) / shown)]!,
  );
}

export function tileStyle(tile: StoryboardTile, tiles: readonly StoryboardTile[]): TileStyle {
  const { x, y, width, height, url } = tile;
  const same = tiles.filter(other => other.url === url);
  const sheetWidth = Math.max(...same.map(other => other.x + other.width));
  const sheetHeight = Math.max(...same.map(other => other.y + other.height));
  return {
    backgroundImage: `url("${url}")`,
    backgroundSize: `${(100 * sheetWidth) / width}% ${(100 * sheetHeight) / height}%`,
    backgroundPosition: `${percentOf(x, sheetWidth - width)}% ${percentOf(y, sheetHeight - height)}%`,
    aspectRatio: `${width} / ${height}`,
  };
}

export function positionAfterKey(
  event: { readonly key: string; readonly shiftKey: boolean },
  seconds: number,
  lastSeconds: number,
): number | undefined {
  const step = event.shiftKey ? frameSeconds : 1;
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: seconds - step,
    ArrowDown: seconds - step,
    ArrowRight: seconds + step,
    ArrowUp: seconds + step,
    PageDown: seconds - lastSeconds / 10,
    PageUp: seconds + lastSeconds / 10,
    Home: 0,
    End: lastSeconds,
  };
  const moved = moves[event.key];
  return moved === undefined ? undefined : Math.min(lastSeconds, Math.max(0, moved));
}

function percentOf(offset: number, room: number): number {
  return room <= 0 ? 0 : (100 * offset) / room;
}
