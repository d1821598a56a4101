import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { FilterPopover, RadioList } from '../../ui/filter-popover.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { type DatePreset, dateLabel, datePresets, daysOf, isPreset } from './date-range.ts';

const presets: readonly (readonly [DatePreset | undefined, string])[] = [
  [undefined, 'Any time'],
  ...Object.entries(datePresets).map(([name, { label }]) => [name as DatePreset, label] as const),
];

export function DateFilter({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}) {
  return (
    <FilterPopover
      legend="Filter by date"
      label={value === undefined ? 'Date' : dateLabel(value)}
      isActive={value !== undefined}
    >
      {close => (
        <>
          <RadioList
            name="Date"
            value={value === undefined || isPreset(value) ? value : ('' as DatePreset)}
            options={presets}
            onValue={onValue}
            onDone={close}
          />
          <DaysForm
            value={value}
            onValue={days => {
              onValue(days);
              close();
            }}
          />
        </>
      )}
    </FilterPopover>
  );
}

function DaysForm({ value, onValue }: { value: string | undefined; onValue: (value: string) => void }) {
  const days = value === undefined ? undefined : daysOf(value);
  const [first, setFirst] = useState(days?.first ?? '');
  const [last, setLast] = useState(days?.last ?? '');
  const isReversed = first !== '' && last !== '' && last < first;
  const isIncomplete = first + last === '' || isReversed;
  return (
    <form
      class="filter-days"
      onSubmit={event => {
        event.preventDefault();
        if (!isIncomplete) onValue(`${first}..${last}`);
      }}
    >
      <TextField label="From" type="date" value={first} onValue={setFirst} />
      <TextField
        label="To"
        type="date"
        value={last}
        onValue={setLast}
        error={isReversed ? 'The end is before the start.' : undefined}
      />
      <Button small type="submit" disabled={isIncomplete}>
        Apply
      </Button>
    </form>
  );
}
