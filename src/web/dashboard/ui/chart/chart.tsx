import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { locale } from '../../state/texts.ts';
import { theme } from '../../state/theme.ts';
import { daySteps, timeLabels, timeSteps, valueTicks } from './chart-axes.ts';
import { ChartLegend } from './chart-legend.tsx';
import { ChartTable } from './chart-table.tsx';
import type { ChartProps } from './chart-values.ts';

const defaultHeight = 180;
const tickHeight = 32;
const timeWidth = 76;
const dayWidth = 60;
/** Seconds on each side of a single point. */
const aroundSecond = 60;
const aroundDay = 43_200;

export function Chart(props: ChartProps) {
  const { label, times, series, height = defaultHeight, clock = 'local' } = props;
  const [pointed, setPointed] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([
    series.map(({ name, color }) => [name, color]),
    height,
    theme.value,
    locale(),
    clock,
  ]);

  useEffect(() => {
    const element = frame.current!;
    const made = new uPlot(optionsOf(latest, element, setPointed), dataOf(latest.current), element);
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
  useEffect(() => plot.current?.setData(dataOf(props)), [times, series]);

  return (
    <figure class="chart" aria-label={label}>
      <div ref={frame} aria-hidden="true" style={{ minHeight: `${height}px` }} />
      <ChartLegend props={props} pointed={pointed} />
      <ChartTable {...props} />
    </figure>
  );
}

function dataOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
}

/** A point without neighbors has no line. */
function hasIsolatedPoints(values: ArrayLike<number | null | undefined>): boolean {
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined;
  for (let at = 0; at < values.length; at += 1)
    if (isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1)) return true;
  return false;
}

function timeRange({ from, clock }: ChartProps, first: number, last: number): [number, number] {
  const begin = Math.min(first, from ?? first);
  const around = clock === 'days' ? aroundDay : aroundSecond;
  return begin === last ? [begin - around, last + around] : [begin, last];
}

/** Resolves colors at every repaint, because they change with the theme. */
function optionsOf(
  latest: RefObject<ChartProps> & { current: ChartProps },
  element: HTMLElement,
  onPointed: (index: number | undefined) => void,
): uPlot.Options {
  const { series, height = defaultHeight, isArea = false, sync, clock = 'local', steps } = latest.current;
  const format = (value: number) => latest.current.format(value);
  // Colors are `light-dark()` pairs, which a canvas cannot resolve.
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
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  const strokes = series.map(({ color }, index) => `--chart-${color ?? index + 1}`);
  return {
    width: element.clientWidth,
    height,
    cursor: { points: { size: 7 }, ...(sync === undefined ? {} : { sync: { key: sync } }) },
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onPointed(cursor.idx ?? undefined)] },
    ...(clock === 'local' ? {} : { tzDate: (time: number) => uPlot.tzDate(new Date(time * 1000), 'UTC') }),
    scales: {
      x: { range: (_plot, first, last) => timeRange(latest.current, first, last) },
      y: {
        range: (_plot, min, max) => [
          Math.min(0, (min ?? 0) * 1.1),
          Math.max(latest.current.minScaleMax ?? 0, (max ?? 0) * 1.1) || 1,
        ],
      },
    },
    axes: [
      {
        ...axis,
        size: 34,
        gap: 8,
        space: clock === 'days' ? dayWidth : timeWidth,
        values: (_plot, times, _axis, _space, step) => timeLabels(times, step, clock),
        incrs: [...(clock === 'days' ? daySteps : timeSteps)],
      },
      {
        ...axis,
        size: 70,
        splits: (plot, _axis, min, max) =>
          valueTicks(
            [min, max],
            format,
            Math.floor(plot.bbox.height / devicePixelRatio / tickHeight) + 1,
            steps,
          ),
        values: (_plot, values) => values.map(format),
      },
    ],
    series: [
      {},
      ...strokes.map(stroke => ({
        width: 2,
        points: { size: 5, show: (plot: uPlot, index: number) => hasIsolatedPoints(plot.data[index] ?? []) },
        stroke: () => colorOf(stroke),
        ...(isArea ? { fill: () => `color-mix(in srgb, ${colorOf(stroke)} 16%, transparent)` } : {}),
      })),
    ],
  };
}
