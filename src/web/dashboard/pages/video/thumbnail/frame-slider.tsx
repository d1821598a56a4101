import type { StoryboardTile } from '../../../../shared/storyboard.ts';
import { positionAfterKey, sampleTiles, tileStyle } from './frame-times.ts';

export function FrameStrip({ tiles, count }: { tiles: readonly StoryboardTile[]; count: number }) {
  return (
    <div class="frame-strip" dir="ltr" aria-hidden="true">
      {sampleTiles(tiles, count).map(tile => (
        <div key={tile.startSeconds} style={{ ...tileStyle(tile, tiles) }} />
      ))}
    </div>
  );
}

/** A slider from 0 to `lastSeconds`, from left to right in every language. Arrow keys move it by a second, with Shift by a frame. */
export function FrameSlider({
  label,
  seconds,
  shownTime,
  lastSeconds,
  onSeconds,
}: {
  label: string;
  seconds: number;
  shownTime: string;
  lastSeconds: number;
  onSeconds: (seconds: number) => void;
}) {
  return (
    <input
      type="range"
      dir="ltr"
      aria-label={label}
      aria-valuetext={shownTime}
      min={0}
      max={lastSeconds}
      step="any"
      value={seconds}
      onInput={event => onSeconds(event.currentTarget.valueAsNumber)}
      onKeyDown={event => {
        const moved = positionAfterKey(event, seconds, lastSeconds);
        if (moved === undefined) return;
        event.preventDefault();
        onSeconds(moved);
      }}
    />
  );
}
