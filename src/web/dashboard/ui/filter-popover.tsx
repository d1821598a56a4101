import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { inSentence } from '../format/in-sentence.ts';
import { isRightToLeft } from '../state/texts.ts';
import { t } from '../texts/shell.ts';
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
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLFieldSetElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (!isOpen) return;
    panel.current!.showPopover();
    place(panel.current, button.current);
    panel.current!.querySelector<HTMLElement>('input:checked, input, button')?.focus({ preventScroll: true });
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const follow = () => place(panel.current, button.current);
    const closeOutside = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    // Loaded content changes the size.
    const observer = new ResizeObserver(follow);
    if (panel.current !== null) observer.observe(panel.current);
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    document.addEventListener('scroll', follow, { capture: true, passive: true });
    addEventListener('resize', follow);
    return () => {
      observer.disconnect();
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
      document.removeEventListener('scroll', follow, { capture: true });
      removeEventListener('resize', follow);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
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
        onClick={() => setOpen(!isOpen)}
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

const gap = 4;

function place(panel: HTMLElement | null, button: HTMLElement | null): void {
  // A scroll may come between the end of the panel and that of its effects.
  if (panel === null || button === null) return;
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  const fits = bottom + gap + height <= innerHeight || top < gap + height;
  panel.style.top = `${fits ? bottom + gap : top - gap - height}px`;
  const start = isRightToLeft() ? right - width : left;
  panel.style.left = `${Math.max(gap, Math.min(start, document.documentElement.clientWidth - width - gap))}px`;
}
