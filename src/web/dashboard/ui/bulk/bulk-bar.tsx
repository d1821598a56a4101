import type { ComponentChildren } from 'preact';
import { formatNumber } from '../../format/size.ts';
import { Button } from '../button.tsx';
import { Progress } from '../progress.tsx';

export interface BulkProgress {
  readonly label: string;
  readonly finished: number;
  readonly total: number;
  readonly onStop: () => void;
}

/** Actions for selected rows. Stays in view. */
export function BulkBar({
  what,
  count,
  total,
  maxTotal,
  progress,
  onAll,
  onClear,
  children,
}: {
  /** Name of one item. */
  what: string;
  count: number;
  /** Rows of all pages. */
  total: number;
  /** Limit of a selection. */
  maxTotal: number;
  progress: BulkProgress | undefined;
  onAll: () => void;
  onClear: () => void;
  children: ComponentChildren;
}) {
  const all = Math.min(total, maxTotal);
  return (
    <section class="bulk-bar" aria-label={`Selected ${what}s`}>
      {progress === undefined ? (
        <>
          <div class="bulk-count">
            <strong role="status">
              {formatNumber(count)} {count === 1 ? what : `${what}s`} selected
            </strong>
            <span class="actions">
              {count < all && (
                <Button small kind="quiet" onClick={onAll}>
                  {total > maxTotal ? `Select first ${formatNumber(all)}` : `Select all ${formatNumber(all)}`}
                </Button>
              )}
              <Button small kind="quiet" onClick={onClear}>
                Clear
              </Button>
            </span>
          </div>
          <div class="actions">{children}</div>
        </>
      ) : (
        <>
          <strong role="status">
            {progress.label}… {formatNumber(progress.finished)} of {formatNumber(progress.total)}
          </strong>
          <Progress
            label={progress.label}
            percent={(100 * progress.finished) / Math.max(1, progress.total)}
          />
          <Button small onClick={progress.onStop}>
            Stop
          </Button>
        </>
      )}
    </section>
  );
}
