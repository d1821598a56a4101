import { formatNumber } from '../../format/size.ts';
import { t } from '../../texts/server.ts';
import { Bars } from '../../ui/chart/bars.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { type AnalyticsQuery, loadBreakdown } from './analytics-data.ts';
import { breakdowns, type Dimension, formatDimensionValue } from './breakdowns.ts';
import { loadMedia } from './media.ts';

const maxRows = 8;
const cardHeight = 180;

export function BreakdownCards({
  question,
  hrefOf,
}: {
  question: AnalyticsQuery;
  /** Address for one of the most played; absent for a single video or live stream. */
  hrefOf?: (mediaId: string) => string;
}) {
  return (
    <div class="columns breakdowns">
      {question.mediaId === undefined && hrefOf !== undefined && (
        <TopMedia question={question} hrefOf={hrefOf} />
      )}
      {breakdowns.map(dimension => (
        <Breakdown key={dimension} question={question} dimension={dimension} />
      ))}
    </div>
  );
}

function TopMedia({ question, hrefOf }: { question: AnalyticsQuery; hrefOf: (mediaId: string) => string }) {
  const loaded = useLoad(JSON.stringify(question), async signal => {
    const { rows, total } = await loadBreakdown(question, 'media-id', { pageSize: maxRows }, signal);
    const ids = rows.map(({ value }) => value);
    return { rows, total, media: await loadMedia(ids, signal) };
  });
  return (
    <Section title={t('breakdowns.mostPlayed')}>
      <LoadedContent loaded={loaded} height={cardHeight}>
        {({ rows, total, media }) => (
          <Ranking
            label={t('breakdowns.label.media')}
            total={total}
            rows={rows.map(({ value, count }, index) => ({
              id: value,
              value: count,
              name: media[index]?.name ?? value,
              href: hrefOf(value),
            }))}
          />
        )}
      </LoadedContent>
    </Section>
  );
}

function Breakdown({ question, dimension }: { question: AnalyticsQuery; dimension: Dimension }) {
  const loaded = useLoad(`${dimension} ${JSON.stringify(question)}`, signal =>
    loadBreakdown(question, dimension, { pageSize: maxRows }, signal),
  );
  const namesNoViewer = loaded.value?.rows.every(({ value }) => value === '') ?? true;
  if (dimension === 'viewer-id' && namesNoViewer) return null;
  return (
    <Section title={t(`breakdowns.title.${dimension}`)}>
      <LoadedContent loaded={loaded} height={cardHeight}>
        {({ rows, total }) => (
          <Ranking
            label={t(`breakdowns.label.${dimension}`)}
            total={total}
            rows={rows.map(({ value, count }) => ({
              id: value,
              value: count,
              name: formatDimensionValue(dimension, value),
              title: dimension === 'referrer' && value !== '' ? value : undefined,
            }))}
          />
        )}
      </LoadedContent>
    </Section>
  );
}

function Ranking({
  label,
  rows,
  total,
}: {
  label: string;
  rows: Parameters<typeof Bars>[0]['rows'];
  total: number;
}) {
  if (rows.length === 0) return <p class="quiet">{t('breakdowns.none')}</p>;
  return (
    <>
      <Bars label={label} rows={rows} format={formatNumber} />
      {total > rows.length && <p class="hint">{t('breakdowns.more', { count: total - rows.length })}</p>}
    </>
  );
}
