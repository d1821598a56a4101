import { useId, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNotice } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import type { EditedVideo } from './use-video.ts';

/** Tags of a video, each of which can be taken away, and a field for another one. */
export function TagsCard({ video: { tags }, change }: EditedVideo) {
  const [typed, setTyped] = useState('');
  const list = useId();
  const form = useRef<HTMLFormElement>(null);
  const suggestions = useSuggestions(typed.trim());
  const wanted = useRef<readonly string[]>(tags);
  const save = useSubmit(async () => {
    // What is wanted while they are saved is saved next.
    for (let saved: readonly string[] | undefined; saved !== wanted.current; ) {
      saved = wanted.current;
      await change({ tags: saved });
    }
  });
  const alter = (alteration: (before: readonly string[]) => readonly string[]) => {
    const before = save.busy ? wanted.current : tags;
    const after = alteration(before);
    if (after === before) return;
    wanted.current = after;
    save.submit();
  };
  const add = (event: Event) => {
    event.preventDefault();
    const tag = typed.trim();
    if (tag === '') return;
    setTyped('');
    alter(before => (before.includes(tag) ? before : [...before, tag]));
  };
  const remove = (tag: string) => {
    alter(before => before.filter(other => other !== tag));
    // The button that had the keyboard goes with its tag.
    form.current?.querySelector('input')?.focus();
  };
  return (
    <Card title="Tags">
      {tags.length === 0 ? (
        <p class="quiet">No tags yet. They help to find videos again.</p>
      ) : (
        <ul class="tags" aria-label="Tags of this video">
          {tags.map(tag => (
            <li key={tag}>
              {tag}
              <button type="button" aria-label={`Remove tag ${tag}`} onClick={() => remove(tag)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form class="add-row" noValidate ref={form} onSubmit={add}>
        <TextField label="Add a tag" value={typed} onValue={setTyped} list={list} />
        <Button type="submit" icon="plus" disabled={typed.trim() === ''}>
          Add
        </Button>
        <datalist id={list}>
          {suggestions
            .filter(value => !tags.includes(value))
            .map(value => (
              <option key={value} value={value} />
            ))}
        </datalist>
      </form>
      <ProblemNotice problem={save.problem} />
    </Card>
  );
}

/** Tags that other videos have. */
function useSuggestions(typed: string): string[] {
  // What begins alike is in one answer: not every letter asks.
  const value = typed.slice(0, 2);
  const { value: answer } = useLoad(value, signal =>
    call('GET /tags', { query: { value, sortBy: 'videoCount', sortOrder: 'desc', pageSize: 50 }, signal }),
  );
  return answer?.data.map(tag => tag.value) ?? [];
}
