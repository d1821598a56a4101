import type { Pagination as PageFacts } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { Button } from './button.tsx';

/** Kinds of rows of a list, by the ends of the keys of their texts. */
const counted = {
  broadcasts: 'broadcasts',
  cues: 'cues',
  'deleted videos': 'deletedVideos',
  deliveries: 'deliveries',
  entries: 'entries',
  'API keys': 'apiKeys',
  'live streams': 'liveStreams',
  recordings: 'recordings',
  sessions: 'sessions',
  themes: 'themes',
  'upload tokens': 'uploadTokens',
  users: 'users',
  videos: 'videos',
  watermarks: 'watermarks',
} as const;

export type Counted = keyof typeof counted;

export function Pagination({
  pagination,
  what,
  onPage,
}: {
  pagination: PageFacts;
  what: Counted;
  onPage: (page: number) => void;
}) {
  const { currentPage = 1, pageSize = 25, currentPageItems = 0, itemsTotal = 0, pagesTotal = 1 } = pagination;
  if (itemsTotal === 0) return null;
  const all = t(`list.count.${counted[what]}`, { count: itemsTotal });
  const first = (currentPage - 1) * pageSize + 1;
  return (
    <nav class="pagination" aria-label={t('list.pages')}>
      <p role="status">
        {pagesTotal > 1 ? t('list.range', { first, last: first + currentPageItems - 1, all }) : all}
      </p>
      {pagesTotal > 1 && (
        <div class="actions">
          <Button small icon="left" disabled={currentPage <= 1} onClick={() => onPage(currentPage - 1)}>
            {t('list.previous')}
          </Button>
          <Button
            small
            icon="right"
            disabled={currentPage >= pagesTotal}
            onClick={() => onPage(currentPage + 1)}
          >
            {t('list.next')}
          </Button>
        </div>
      )}
    </nav>
  );
}
