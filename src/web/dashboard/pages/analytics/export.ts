import { saveFile } from '../../../shared/save-file.ts';
import { t } from '../../texts/server.ts';
import { type AnalyticsQuery, loadBreakdown, type Row, type TimeSeries } from './analytics-data.ts';
import { breakdowns, formatDimensionValue } from './breakdowns.ts';
import { type Cell, csvOf } from './csv.ts';
import { dayOf } from './time-range.ts';

const pageSize = 100;
const maxPages = 50;

export const exportNames = ['over-time', 'media-id', ...breakdowns] as const;

export function timeSeriesCsv(values: TimeSeries): string {
  const heads = [
    t('export.from'),
    t('export.plays'),
    t('export.impressions'),
    t('export.playRate'),
    t('export.watchTime'),
    t('export.peakViewers'),
    t('export.averageViewers'),
  ];
  return csvOf(
    heads,
    values.times.map((time, index) => [
      new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' '),
      values.plays[index] ?? 0,
      values.impressions[index] ?? 0,
      rateCell(values.playPercents[index]),
      values.watchSeconds[index] ?? 0,
      values.peakViewers[index] ?? 0,
      values.averageViewers[index] ?? 0,
    ]),
  );
}

function rateCell(percent: number | null | undefined): Cell {
  return typeof percent === 'number' ? percent / 100 : '';
}

export async function breakdownCsv(question: AnalyticsQuery, dimension: string): Promise<string> {
  const rows: Row[] = [];
  for (let currentPage = 1; currentPage <= maxPages; currentPage += 1) {
    const page = await loadBreakdown(question, dimension, { pageSize, currentPage });
    rows.push(...page.rows);
    if (page.rows.length < pageSize) break;
  }
  const known = breakdowns.find(one => one === dimension);
  if (known === undefined)
    return csvOf(
      ['id', t('export.plays')],
      rows.map(({ value, count }) => [value, count]),
    );
  const cells = ({ value, count }: Row): Cell[] => [value, formatDimensionValue(known, value), count];
  return csvOf([known, t(`export.head.${known}`), t('export.plays')], rows.map(cells));
}

export function exportFileName(name: string, { fromMs, toMs }: AnalyticsQuery): string {
  return `millrace-${name}-${dayOf(fromMs)}-${dayOf(toMs - 1)}.csv`;
}

export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  saveFile(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
