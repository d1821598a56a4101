import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { withTexts } from '../../state/texts.ts';
import { t } from '../../texts/shell.ts';
import { Notice } from '../notice.tsx';
import { Skeleton } from '../states.tsx';
import type { ChartProps } from './chart-values.ts';

export function LazyChart(props: ChartProps) {
  const [Chart, setChart] = useState<ComponentType<ChartProps>>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    withTexts(import('./chart.tsx')).then(
      module => setChart(() => module.Chart),
      () => setFailed(true),
    );
  }, []);
  if (hasFailed) return <Notice tone="bad">{t('chart.failed')}</Notice>;
  if (Chart === undefined) return <Skeleton height={(props.height ?? 180) + 34} />;
  return <Chart {...props} />;
}
