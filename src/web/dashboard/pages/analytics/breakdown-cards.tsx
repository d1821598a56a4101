import { formatNumber } from '../../format/size.ts';
import { Bars } from '../../ui/bars.tsx';
import { Card } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { loadMedia } from './media.ts';
import { breakdowns, type Dimension, nameOf } from './names.ts';
import { loadBreakdown, type Question } from './numbers.ts';

const rowsAtMost = 8;
const placeHeight = 180;

/** Plays told apart: by media, place, device and page. @param hrefOf address of the analytics of one video or live stream */
export function BreakdownCards({
  question,
  hrefOf,
}: {
  question: Question;
  hrefOf: (mediaId: string) => string;
}) {
  return (
    <div class="columns">
      {question.mediaId === undefined && <TopMedia question={question} hrefOf={hrefOf} />}
      {breakdowns.map(({ dimension, title }) => (
        <Breakdown key={dimension} question={question} dimension={dimension} title={title} />
      ))}
    </div>
  );
}

function TopMedia({ question, hrefOf }: { question: Question; hrefOf: (mediaId: string) => string }) {
  const loaded = useLoad(JSON.stringify(question), async signal => {
    const { rows, total } = await loadBreakdown(question, 'media-id', { pageSize: rowsAtMost }, signal);
    const ids = rows.map(({ value }) => value);
    return { rows, total, media: await loadMedia(ids, signal) };
  });
  return (
    <Card title="Most played">
      <Shown loaded={loaded} height={placeHeight}>
        {({ rows, total, media }) => (
          <Ranking
            label="Most played"
            total={total}
            rows={rows.map(({ value, count }, index) => ({
              ...{ id: value, value: count, name: media[index]?.name ?? value, href: hrefOf(value) },
            }))}
          />
        )}
      </Shown>
    </Card>
  );
}

function Breakdown({
  question,
  dimension,
  title,
}: {
  question: Question;
  dimension: Dimension;
  title: string;
}) {
  const loaded = useLoad(`${dimension} ${JSON.stringify(question)}`, signal =>
    loadBreakdown(question, dimension, { pageSize: rowsAtMost }, signal),
  );
  return (
    <Card title={title}>
      <Shown loaded={loaded} height={placeHeight}>
        {({ rows, total }) => (
          <Ranking
            label={title}
            total={total}
            rows={rows.map(({ value, count }) => ({
              ...{ id: value, value: count, name: nameOf(dimension, value) },
              title: dimension === 'referrer' && value !== '' ? value : undefined,
            }))}
          />
        )}
      </Shown>
    </Card>
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
  if (rows.length === 0) return <p class="quiet">No plays in this time.</p>;
  return (
    <>
      <Bars label={`${label}, by plays`} rows={rows} format={formatNumber} />
      {total > rows.length && (
        <p class="hint">And {formatNumber(total - rows.length)} more, in the export.</p>
      )}
    </>
  );
}
