import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { inSentence } from '../format/in-sentence.ts';
import { t } from '../texts/shell.ts';
import { usePopover } from './hooks/use-popover.ts';
import { Icon } from './icon.tsx';

/** A filter of a list: a button that shows its value, and what it offers below. */
export function FilterPopover({
  legend,
  label,
  isActive,
  children,
}: {
  legend: string;
  label: string;
  isActive: boolean;
  children: (close: () => void) => ComponentChildren;
}) {
  const id = useId();
  const { isOpen, toggle, close, root, button, panel } = usePopover<HTMLFieldSetElement>(
    'input:checked, input, button',
    { side: 'start', moves: true },
  );
  return (
    <fieldset
      ref={root}
      onKeyDown={event => {
        if (event.key === 'Escape' && isOpen) close();
      }}
    >
      <legend class="for-readers">{legend}</legend>
      <button
        ref={button}
        type="button"
        class={`filter-chip${isActive ? ' active' : ''}`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={toggle}
      >
        <span>{label}</span>
        <Icon name="down" size={15} />
      </button>
      {isOpen && (
        <div ref={panel} class="filter-panel" popover="manual" id={id}>
          {children(close)}
        </div>
      )}
    </fieldset>
  );
}

/** A filter with one choice among few. */
export function ChoiceFilter<Value extends string>({
  name,
  value,
  options,
  onValue,
}: {
  name: string;
  value: Value | undefined;
  options: readonly (readonly [value: Value | undefined, label: string])[];
  onValue: (value: Value | undefined) => void;
}) {
  const chosen = options.find(([option]) => option === value);
  const isActive = value !== undefined && chosen !== undefined;
  return (
    <FilterPopover
      legend={t('list.filterBy', { name: inSentence(name) })}
      label={isActive ? `${name}: ${chosen[1]}` : name}
      isActive={isActive}
    >
      {close => <RadioList name={name} value={value} options={options} onValue={onValue} onDone={close} />}
    </FilterPopover>
  );
}

/** Arrow keys choose. Enter and clicks also close. */
export function RadioList<Value extends string>({
  name,
  value,
  options,
  onValue,
  onDone,
}: {
  name: string;
  value: Value | undefined;
  options: readonly (readonly [value: Value | undefined, label: string])[];
  onValue: (value: Value | undefined) => void;
  onDone: () => void;
}) {
  const isPointed = useRef(false);
  return (
    <ul
      class="filter-options"
      onPointerDown={() => {
        isPointed.current = true;
      }}
      onKeyDown={({ key }) => {
        isPointed.current = false;
        if (key === 'Enter') onDone();
      }}
    >
      {options.map(([option, label]) => (
        <li key={option ?? ''}>
          <label>
            <input
              type="radio"
              name={`filter ${name}`}
              checked={option === value}
              onChange={() => onValue(option)}
              onClick={() => {
                // Arrow keys click, too.
                if (!isPointed.current) return;
                // The input may be gone before it would change.
                onValue(option);
                onDone();
              }}
            />
            <span>{label}</span>
          </label>
        </li>
      ))}
    </ul>
  );
}
