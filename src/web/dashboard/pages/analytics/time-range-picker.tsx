import { TextField } from '../../ui/form/field.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';
import { dayOf, earliestDay, type RangeName, type TimeRange } from './time-range.ts';

const names: readonly (readonly [RangeName, string])[] = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['custom', 'Custom'],
];

export function RangePicker({
  range,
  isSandbox,
  nowMs,
  onChange,
}: {
  range: TimeRange;
  isSandbox: boolean;
  nowMs: number;
  onChange: (changes: Record<'range' | 'from' | 'to', string | undefined>) => void;
}) {
  const { name, firstDay, lastDay } = range;
  const limits = { min: earliestDay(nowMs), max: dayOf(nowMs) };
  return (
    <>
      <SegmentedControl
        label="Period"
        value={name}
        options={names.filter(([one]) => !isSandbox || one === '24h')}
        onValue={range => onChange({ range, from: undefined, to: undefined })}
      />
      {name === 'custom' && (
        <>
          <TextField
            label="First day"
            type="date"
            value={firstDay ?? ''}
            {...limits}
            onValue={from => onChange({ range: name, from, to: lastDay })}
          />
          <TextField
            label="Last day"
            type="date"
            value={lastDay ?? ''}
            {...limits}
            onValue={to => onChange({ range: name, from: firstDay, to })}
          />
        </>
      )}
    </>
  );
}
