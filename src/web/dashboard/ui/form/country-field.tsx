import { useId, useRef, useState } from 'preact/hooks';
import { countries, countryName, findCountries } from '../../format/countries.ts';
import { listText } from '../../format/list-text.ts';
import { t } from '../../texts/shell.ts';
import { Icon } from '../icon.tsx';
import { Field } from './field.tsx';
import { useFieldValue } from './form-context.tsx';

const none: readonly string[] = [];
const leaveMs = 200;

/** Countries that are chosen from a list, by their names or codes. A pasted list of codes is split. */
export function CountryField({ label, hint, field }: { label: string; hint?: string; field: string }) {
  const [codes, onCodes] = useFieldValue<readonly string[]>({ field }, none);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<string>();
  const [said, setSaid] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const found = isOpen && typed.trim() !== '' ? findCountries(typed, codes) : none;
  const active = found[Math.min(at, found.length - 1)];
  const type = (text: string) => {
    setTyped(text);
    setAt(0);
    setOpen(true);
    setError(undefined);
  };
  const add = (more: readonly string[]) => {
    onCodes([...new Set([...codes, ...more])]);
    setSaid(t('form.added', { items: listText(more.map(countryName)) }));
    type('');
  };
  const remove = (code: string) => {
    onCodes(codes.filter(one => one !== code));
    setSaid(t('form.removed', { items: countryName(code) }));
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const last = codes.at(-1);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + found.length }[event.key];
    if (next !== undefined && found.length > 0) setAt(next % found.length);
    else if (event.key === 'Enter' && codesIn(typed).length > 0) add(codesIn(typed));
    else if (event.key === 'Enter' && active !== undefined) add([active]);
    else if (event.key === 'Escape' && found.length > 0) setOpen(false);
    else if (event.key === 'Backspace' && typed === '' && last !== undefined && !event.repeat)
      return remove(last);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // A button that is pressed next must not move away before it is released.
  const leave = () => setTimeout(() => latest.current(), leaveMs);
  const latest = useRef(() => {});
  latest.current = () => {
    const text = typed.trim();
    if (document.activeElement === input.current || text === '') return;
    setOpen(false);
    const meant = codesIn(text);
    const exact = findCountries(text, codes).find(code => isNameOf(text, code));
    if (meant.length > 0) add(meant);
    else if (exact !== undefined) add([exact]);
    else setError(t('countries.unknown', { text }));
  };
  return (
    <div class="tag-field country-field">
      <Field label={label} hint={hint} field={field} error={error}>
        {attributes => (
          <>
            {codes.length > 0 && (
              <ul class="tags" aria-label={t('countries.chosen')}>
                {codes.map(code => (
                  <li key={code}>
                    {countryName(code)}
                    <button
                      type="button"
                      aria-label={t('form.remove', { name: countryName(code) })}
                      onClick={() => remove(code)}
                    >
                      <Icon name="close" size={14} />
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <input
              {...attributes}
              ref={input}
              type="text"
              role="combobox"
              aria-expanded={found.length > 0}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={active && `${id}-${active}`}
              autocomplete="off"
              placeholder={t('countries.add')}
              value={typed}
              onInput={event => type(event.currentTarget.value)}
              onKeyDown={onKeyDown}
              onBlur={leave}
              onPaste={event => {
                const pasted = codesIn(event.clipboardData?.getData('text') ?? '');
                if (pasted.length === 0) return;
                event.preventDefault();
                add(pasted);
              }}
            />
          </>
        )}
      </Field>
      <div
        class="country-list"
        role="listbox"
        id={`${id}-list`}
        aria-label={t('countries.list')}
        hidden={found.length === 0}
      >
        {found.map(code => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={code}
            id={`${id}-${code}`}
            role="option"
            tabIndex={-1}
            aria-selected={code === active}
            // Keeps the focus in the field.
            onPointerDown={event => event.preventDefault()}
            onClick={() => add([code])}
          >
            {countryName(code)} <span class="quiet">{code}</span>
          </div>
        ))}
      </div>
      <span class="for-readers" role="status">
        {said}
      </span>
    </div>
  );
}

function isNameOf(text: string, code: string): boolean {
  return [code, countryName(code)].some(name => name.toLowerCase() === text.toLowerCase());
}

/** Returns the codes of a list such as `DE, FR`, and none where it has anything else. */
function codesIn(text: string): string[] {
  const words = text
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter(word => word !== '');
  return words.length > 0 && words.every(word => countries().includes(word)) ? words : [];
}
