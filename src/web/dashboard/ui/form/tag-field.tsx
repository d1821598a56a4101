import { useId, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { listText } from '../../format/list-text.ts';
import { addTags } from '../../format/tags.ts';
import { t } from '../../texts/shell.ts';
import { Button } from '../button.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { Icon } from '../icon.tsx';
import { Field } from './field.tsx';

/** A comma or Enter ends a tag, a pasted list is split, Backspace in the empty field removes the last tag. */
export function TagField({
  label,
  tags,
  typed,
  error,
  onTyped,
  onChange,
}: {
  label: string;
  tags: readonly string[];
  typed: string;
  error?: string | undefined;
  onTyped: (typed: string) => void;
  /** Receives a function, because there may be newer tags than those shown. */
  onChange: (alteration: (before: readonly string[]) => readonly string[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const [problem, setProblem] = useState<string>();
  const [said, setSaid] = useState('');
  const suggestions = useSuggestions(typed.trim());
  const add = (text: string, unfinished = '') => {
    const { tags: after, rest, problem: found } = addTags(tags, text);
    setProblem(found);
    onTyped(rest === '' ? unfinished.trimStart() : `${rest}${unfinished}`);
    if (after === tags) return;
    setSaid(t('form.added', { items: listText(after.slice(tags.length)) }));
    onChange(before => addTags(before, text).tags);
  };
  const remove = (tag: string) => {
    setProblem(undefined);
    setSaid(t('form.removed', { items: tag }));
    onChange(before => before.filter(other => other !== tag));
    // The focused button is removed with its tag.
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const last = tags.at(-1);
    if (event.key === 'Enter' && typed.trim() !== '') {
      event.preventDefault();
      add(typed);
    } else if (event.key === 'Backspace' && typed === '' && last !== undefined && !event.repeat) remove(last);
  };
  return (
    <div class="tag-field">
      {tags.length > 0 && (
        <ul class="tags" aria-label={t('tags.title')}>
          {tags.map(tag => (
            <li key={tag}>
              {tag}
              <button type="button" aria-label={t('tags.remove', { tag })} onClick={() => remove(tag)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Field label={label} hint={t('tags.hint')} field="tags" error={problem ?? error}>
        {attributes => (
          <span class="add-row">
            <input
              {...attributes}
              ref={input}
              type="text"
              autocomplete="off"
              enterkeyhint="enter"
              list={list}
              value={typed}
              onInput={({ currentTarget: { value } }) => {
                const comma = value.lastIndexOf(',');
                if (comma === -1) onTyped(value);
                else add(value.slice(0, comma), value.slice(comma + 1));
              }}
              onPaste={event => {
                const pasted = event.clipboardData?.getData('text') ?? '';
                if (!/[,\n]/.test(pasted)) return;
                event.preventDefault();
                const { selectionStart, selectionEnd } = event.currentTarget;
                add(
                  typed.slice(0, selectionStart ?? typed.length) +
                    pasted +
                    typed.slice(selectionEnd ?? typed.length),
                );
              }}
              onKeyDown={onKeyDown}
            />
            <Button icon="plus" disabled={typed.trim() === ''} onClick={() => add(typed)}>
              {t('tags.add')}
            </Button>
          </span>
        )}
      </Field>
      <datalist id={list}>
        {suggestions
          .filter(value => !tags.includes(value) && !value.includes(','))
          .map(value => (
            <option key={value} value={value} />
          ))}
      </datalist>
      <span class="for-readers" role="status">
        {said}
      </span>
    </div>
  );
}

function useSuggestions(typed: string): string[] {
  // One request covers all texts with the same beginning.
  const value = typed.slice(0, 2);
  const { value: answer } = useLoad(value, signal =>
    call('GET /tags', { query: { value, sortBy: 'videoCount', sortOrder: 'desc', pageSize: 50 }, signal }),
  );
  return answer?.data.map(tag => tag.value) ?? [];
}
