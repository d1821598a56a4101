import { t } from '../texts/shell.ts';
import { Skeleton } from './states.tsx';

const skeletonRows = 8;

export function ListSkeleton() {
  return (
    <div role="status">
      <span class="for-readers">{t('list.loading')}</span>
      <div class="list-skeleton" aria-hidden="true">
        {Array.from({ length: skeletonRows }, (_, index) => (
          <div key={index}>
            <div class="media-picture" />
            <Skeleton rows={2} />
          </div>
        ))}
      </div>
    </div>
  );
}
