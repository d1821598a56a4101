import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { addTags } from '../../format/tags.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TagField } from '../../ui/form/tag-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';

export function AddTagsDialog({
  videos,
  onChanged,
  onClose,
}: {
  videos: readonly Video[];
  onChanged: () => void;
  onClose: () => void;
}) {
  const [tags, setTags] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState('');
  const wanted = addTags(tags, typed);
  const submission = useSubmit(async () => {
    try {
      for (const { videoId, tags: before } of videos) {
        const after = [...new Set([...before, ...wanted.tags])];
        if (after.length === before.length) continue;
        await call('PATCH /videos/{videoId}', { params: { videoId }, body: { tags: after } });
      }
    } finally {
      onChanged();
    }
    showToast(
      wanted.tags.length === 1 ? `Tag “${wanted.tags[0]}” added.` : `${wanted.tags.length} tags added.`,
    );
    onClose();
  });
  return (
    <FormDialog
      title={videos.length === 1 ? 'Add tags' : `Add tags to ${videos.length} videos`}
      action="Add tags"
      disabled={wanted.tags.length === 0 || wanted.rest !== ''}
      submission={submission}
      onClose={onClose}
    >
      <TagField
        label="Tags"
        tags={tags}
        typed={typed}
        error={wanted.problem ?? submission.errorOf('tags')}
        onTyped={setTyped}
        onChange={alteration => setTags(alteration)}
      />
    </FormDialog>
  );
}
