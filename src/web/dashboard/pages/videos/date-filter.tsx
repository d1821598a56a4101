import { useState } from 'preact/hooks';
import { t } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { FilterPopover, RadioList } from '../../ui/filter-popover.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { type DatePreset, dateLabel, datePresets, daysOf, isPreset } from './date-range.ts';

const presets = Object.keys(datePresets) as DatePreset[];

export function DateFilter({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}) {
  return (
    <FilterPopover
      legend={t('filter.byDate')}
      label={value === undefined ? t('filter.dateName') : dateLabel(value)}
      isActive={value !== undefined}
    >
      {close => (
        <>
          <RadioList
            name={t('filter.dateName')}
            value={value === undefined || isPreset(value) ? value : ('' as DatePreset)}
            options={[
              [undefined, t('filter.anyTime')],
              ...presets.map(name => [name, dateLabel(name)] as const),
            ]}
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
      <TextField label={t('filter.from')} type="date" value={first} onValue={setFirst} />
      <TextField
        label={t('filter.to')}
        type="date"
        value={last}
        onValue={setLast}
        error={isReversed ? t('filter.reversed') : undefined}
      />
      <Button small type="submit" disabled={isIncomplete}>
        {t('filter.apply')}
      </Button>
    </form>
  );
}
