import { titleOf } from '../../format/video-title.ts';
import { t } from '../../texts/videos.ts';
import type { BulkResult } from '../../ui/bulk/run-bulk.ts';

export type BulkAction =
  | 'trashed'
  | 'restored'
  | 'deleted'
  | 'retried'
  | 'changed'
  | 'listed'
  | 'public'
  | 'private';

/** Says “38 videos moved to trash, 2 failed: The server can’t be reached.” */
export function bulkText(
  {
    done,
    missing,
    failed,
    left,
  }: Omit<BulkResult<unknown>, 'done'> & { readonly done: readonly { readonly title: string }[] },
  action: BulkAction,
): string {
  const [only] = done;
  const failures = failed.length + left.length;
  const subject =
    only !== undefined && done.length === 1 && missing.length + failures === 0
      ? t(`bulk.one.${action}`, { name: titleOf(only) })
      : t(`bulk.many.${action}`, { count: done.length });
  const rest = [
    ...(failures === 0 ? [] : [t('bulk.failed', { count: failures })]),
    ...(missing.length === 0 ? [] : [t('bulk.missing', { count: missing.length })]),
  ];
  const text = rest.reduce((first, second) => t('bulk.joined', { first, second }), subject);
  const reason = failed[0]?.problem.text;
  return reason === undefined ? t('bulk.ended', { text }) : t('bulk.reason', { text, reason });
}
