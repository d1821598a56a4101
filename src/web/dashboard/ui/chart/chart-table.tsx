import { t } from '../../texts/shell.ts';
import { momentText } from './chart-axes.ts';
import { type ChartProps, describeSeries, sampleRows } from './chart-values.ts';

const maxRows = 30;

export function ChartTable({ label, times, series, format, clock = 'local' }: ChartProps) {
  const spanSeconds = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const isUtc = clock !== 'local';
  return (
    <div class="for-readers">
      {series.map(one => (
        <p key={one.name}>{describeSeries(one, format)}</p>
      ))}
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{t(isUtc ? 'chart.timeUtc' : 'chart.time')}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sampleRows(times.length, maxRows).map(index => (
            <tr key={times[index]}>
              <th scope="row">{momentText(times[index]!, spanSeconds, clock)}</th>
              {series.map(({ name, values }) => {
                const value = values[index];
                return (
                  <td key={name}>
                    {value === null || value === undefined ? t('chart.unknown') : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
