import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { problemText } from '../../format/problem-text.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showError, showToast } from '../../ui/toast.tsx';
import { useReturnedFocus } from './edit-form.tsx';
import type { EditedVideo } from './use-video.ts';

/** Edits the title in place of the heading, which is hidden meanwhile. */
export function TitleEditor(edited: EditedVideo) {
  const [isEditing, setEditing] = useState(false);
  const button = useReturnedFocus(isEditing);
  if (!can('upload')) return null;
  if (isEditing) return <TitleForm {...edited} onDone={() => setEditing(false)} />;
  return (
    <IconButton
      icon="edit"
      label={t('titleEditor.edit')}
      buttonRef={button}
      onClick={() => setEditing(true)}
    />
  );
}

function TitleForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const [title, setTitle] = useState(video.title);
  const place = useRef<HTMLDivElement>(null);
  // Closing removes the field, which loses the focus then.
  const isDone = useRef(false);
  const close = () => {
    isDone.current = true;
    onDone();
  };
  const isChanged = title !== video.title;
  const submission = useSubmit(async () => {
    if (isChanged) {
      await change({ title }).catch((error: unknown) => {
        // Nobody sees the field of a page that was left.
        if (place.current === null) showError(error);
        throw error;
      });
      showToast(t('titleEditor.saved'));
    }
    close();
  });
  useEffect(() => {
    if (!isChanged) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', onUnload);
    return () => removeEventListener('beforeunload', onUnload);
  }, [isChanged]);
  const { notice } = submission;
  // Runs before the first paint, so that no keystroke is lost.
  useLayoutEffect(() => place.current?.querySelector('input')?.select(), []);
  return (
    <div ref={place} class="title-editor">
      <Form
        submission={submission}
        label={t('titleEditor.title')}
        onKeyDown={event => {
          // Input methods end a composition with it.
          if (event.key === 'Escape' && !event.isComposing) close();
        }}
        onFocusOut={() => {
          // Another window may have the focus for a while.
          if (!isDone.current && document.hasFocus()) submission.submit();
        }}
      >
        <TextField
          field="title"
          label={t('titleEditor.title')}
          hideLabel
          placeholder={t('titleEditor.untitled')}
          hint={t('titleEditor.hint')}
          value={title}
          onValue={setTitle}
          error={notice && problemText(notice)}
        />
      </Form>
    </div>
  );
}
