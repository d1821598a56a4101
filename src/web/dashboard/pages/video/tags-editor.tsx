import { useRef, useState } from 'preact/hooks';
import { formatList } from '../../format/list.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { TagField } from '../../ui/form/tag-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import type { EditedVideo } from './use-video.ts';

export function TagsEditor({ video: { tags }, change }: EditedVideo) {
  const [typed, setTyped] = useState('');
  const [wanted, setWanted] = useState(tags);
  const newest = useRef(tags);
  const save = useSubmit(async () => {
    // Saves once more what changed meanwhile.
    for (let saved: readonly string[] | undefined; saved !== newest.current; ) {
      saved = newest.current;
      await change({ tags: saved });
    }
  });
  if (!save.busy) newest.current = tags;
  const alter = (alteration: (before: readonly string[]) => readonly string[]) => {
    newest.current = alteration(newest.current);
    setWanted(newest.current);
    save.submit();
  };
  const shown = save.busy ? wanted : tags;
  return (
    <section class="card-part" aria-label={t('tags.title')}>
      <h3>{t('tags.title')}</h3>
      {shown.length === 0 && <p class="quiet">{t('tags.none')}</p>}
      {can('upload') ? (
        <TagField label={t('tags.add')} tags={shown} typed={typed} onTyped={setTyped} onChange={alter} />
      ) : (
        shown.length > 0 && <p>{formatList(shown)}</p>
      )}
      <ProblemNotice problem={save.problem} />
    </section>
  );
}
