import type { ComponentChildren } from 'preact';
import { t } from '../../texts/shell.ts';
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
  count,
  total,
  maxTotal,
  progress,
  onAll,
  onClear,
  children,
}: {
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
    <section class="bulk-bar" aria-label={t('bulk.title')}>
      {progress === undefined ? (
        <>
          <div class="bulk-count">
            <strong role="status">{t('bulk.selected', { count })}</strong>
            <span class="actions">
              {count < all && (
                <Button small kind="quiet" onClick={onAll}>
                  {t(total > maxTotal ? 'bulk.selectFirst' : 'bulk.selectAll', { count: all })}
                </Button>
              )}
              <Button small kind="quiet" onClick={onClear}>
                {t('bulk.clear')}
              </Button>
            </span>
          </div>
          <div class="actions">{children}</div>
        </>
      ) : (
        <>
          <strong role="status">
            {t('bulk.progress', {
              action: progress.label,
              finished: progress.finished,
              total: progress.total,
            })}
          </strong>
          <Progress
            label={progress.label}
            percent={(100 * progress.finished) / Math.max(1, progress.total)}
          />
          <Button small onClick={progress.onStop}>
            {t('bulk.stop')}
          </Button>
        </>
      )}
    </section>
  );
}
