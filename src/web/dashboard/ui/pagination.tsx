import type { Pagination as PageFacts } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { useQuery } from './hooks/use-query.ts';

type CountOf<Key> = Key extends `list.count.${infer Name}` ? Name : never;

/** The page is in the address of the list, unless the list has `onPage`. */
export function Pagination({
  pagination,
  what,
  scrollsUp = false,
  onPage,
}: {
  pagination: PageFacts;
  /** Kind of the rows, by the end of the key of their text. */
  what: CountOf<Parameters<typeof t>[0]>;
  scrollsUp?: boolean;
  onPage?: (page: number) => void;
}) {
  const { change } = useQuery();
  const turnTo = (page: number) => {
    if (onPage === undefined) change({ page: page === 1 ? undefined : String(page) });
    else onPage(page);
    if (scrollsUp) scrollTo({ top: 0 });
  };
  const { currentPage = 1, pageSize = 25, currentPageItems = 0, itemsTotal = 0, pagesTotal = 1 } = pagination;
  if (itemsTotal === 0) return null;
  const all = t(`list.count.${what}`, { count: itemsTotal });
  const first = (currentPage - 1) * pageSize + 1;
  return (
    <nav class="pagination" aria-label={t('list.pages')}>
      <p role="status">
        {pagesTotal > 1 ? t('list.range', { first, last: first + currentPageItems - 1, all }) : all}
      </p>
      {pagesTotal > 1 && (
        <div class="actions">
          <Button small icon="left" disabled={currentPage <= 1} onClick={() => turnTo(currentPage - 1)}>
            {t('list.previous')}
          </Button>
          <Button
            small
            icon="right"
            disabled={currentPage >= pagesTotal}
            onClick={() => turnTo(currentPage + 1)}
          >
            {t('list.next')}
          </Button>
        </div>
      )}
    </nav>
  );
}
