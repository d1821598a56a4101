import type { Pagination as PageFacts } from '../api/api-types.ts';
import { formatNumber } from '../format/size.ts';
import { Button } from './button.tsx';

export function Pagination({
  pagination,
  what,
  onPage,
}: {
  pagination: PageFacts;
  what: string;
  onPage: (page: number) => void;
}) {
  const { currentPage = 1, pageSize = 25, currentPageItems = 0, itemsTotal = 0, pagesTotal = 1 } = pagination;
  if (itemsTotal === 0) return null;
  const first = (currentPage - 1) * pageSize + 1;
  return (
    <nav class="pagination" aria-label={`Pages of ${what}`}>
      <p role="status">
        {pagesTotal > 1 && `${formatNumber(first)} to ${formatNumber(first + currentPageItems - 1)} of `}
        {formatNumber(itemsTotal)} {itemsTotal === 1 ? singular(what) : what}
      </p>
      {pagesTotal > 1 && (
        <div class="actions">
          <Button small icon="left" disabled={currentPage <= 1} onClick={() => onPage(currentPage - 1)}>
            Previous
          </Button>
          <Button
            small
            icon="right"
            disabled={currentPage >= pagesTotal}
            onClick={() => onPage(currentPage + 1)}
          >
            Next
          </Button>
        </div>
      )}
    </nav>
  );
}

function singular(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}
