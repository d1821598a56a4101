import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatDateTime, formatUtcDay } from '../format/time.ts';
import { theme } from '../state/theme.ts';
import { daySteps, timeLabels } from './chart-axes.ts';
import type { ChartProps } from './chart-values.ts';

const rowsReadAtMost = 30;

/** Values over time as lines, with a legend that follows the pointer, and a table of the newest values for screen readers. */
export function Chart(props: ChartProps) {
  const { label, times, series, format, height = 180, areDays = false } = props;
  const formatTime = areDays ? formatUtcDay : formatDateTime;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const shape = JSON.stringify([
    series.map(({ name, color }) => [name, color]),
    height,
    theme.value,
    areDays,
  ]);

  useEffect(() => {
    const element = frame.current!;
    const made = new uPlot(optionsOf(props, element), data, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const repaint = () => made.redraw();
    dark.addEventListener('change', repaint);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', repaint);
      made.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data));

  return (
    <figure class="chart" aria-label={label}>
      <div ref={frame} aria-hidden="true" style={{ minHeight: `${height}px` }} />
      <div class="for-readers">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.slice(-rowsReadAtMost).map((time, index) => (
              <tr key={time}>
                <th scope="row">{formatTime(time * 1000)}</th>
                {series.map(({ name, values }) => {
                  const value = values[Math.max(0, times.length - rowsReadAtMost) + index];
                  return (
                    <td key={name}>{value === null || value === undefined ? 'unknown' : format(value)}</td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Whether a value has none beside it: no line shows it. */
function hasLonePoints(values: ArrayLike<number | null | undefined>): boolean {
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined;
  for (let at = 0; at < values.length; at += 1)
    if (isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1)) return true;
  return false;
}

/** Colours are asked for at each painting: they change with the theme. */
function optionsOf(props: ChartProps, element: HTMLElement): uPlot.Options {
  const { series, format, height = 180, isArea = false, sync, atLeast = 0, steps, areDays = false } = props;
  const formatTime = areDays ? formatUtcDay : formatDateTime;
  // Colours of the style sheet are pairs for both themes, of which a canvas takes the one that an element resolves.
  const probe = document.createElement('span');
  element.replaceChildren(probe);
  const colorOf = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: () => colorOf('--quiet'),
    grid: { stroke: () => colorOf('--line'), width: 1 },
    ticks: { show: false },
  };
  const strokes = series.map(({ color }, index) => `--chart-${color ?? index + 1}`);
  return {
    width: element.clientWidth,
    height,
    cursor: { points: { size: 7 }, ...(sync === undefined ? {} : { sync: { key: sync } }) },
    legend: { live: true },
    ...(areDays ? { tzDate: (time: number) => uPlot.tzDate(new Date(time * 1000), 'UTC') } : {}),
    scales: {
      y: {
        range: (_plot, min, max) => [Math.min(0, (min ?? 0) * 1.1), Math.max(atLeast, (max ?? 0) * 1.1) || 1],
      },
    },
    axes: [
      {
        ...axis,
        font: '12px system-ui',
        size: 34,
        space: 60,
        values: (_plot, times, _axis, _space, step) => timeLabels(times, step, areDays),
        ...(areDays ? { incrs: [...daySteps] } : {}),
      },
      {
        ...axis,
        font: '12px system-ui',
        size: 64,
        values: (_plot, values) => values.map(value => format(value)),
        ...(steps === undefined ? {} : { incrs: [...steps] }),
      },
    ],
    series: [
      { label: 'Time', value: (_plot, time) => (time === null ? '–' : formatTime(time * 1000)) },
      ...series.map(({ name }, index) => ({
        label: name,
        width: 2,
        points: { size: 5, show: (plot: uPlot, index: number) => hasLonePoints(plot.data[index] ?? []) },
        stroke: () => colorOf(strokes[index]!),
        ...(isArea ? { fill: () => `color-mix(in srgb, ${colorOf(strokes[index]!)} 16%, transparent)` } : {}),
        value: (_plot: uPlot, value: number | null, _series: number, at: number | null) =>
          at === null ? '–' : value === null || value === undefined ? 'unknown' : format(value),
      })),
    ],
  };
}
