import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { tell } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';

/** Adds a tag to several videos; those that have it stay as they are. */
export function AddTagDialog({
  videos,
  onChanged,
  onClose,
}: {
  videos: readonly Video[];
  onChanged: () => void;
  onClose: () => void;
}) {
  const [tag, setTag] = useState('');
  const known = useLoad('tags', signal =>
    call('GET /tags', { query: { sortBy: 'videoCount', sortOrder: 'desc', pageSize: 50 }, signal }),
  );
  const wanted = tag.trim();
  const submission = useSubmit(async () => {
    try {
      for (const { videoId, tags } of videos) {
        if (tags.includes(wanted)) continue;
        await call('PATCH /videos/{videoId}', { params: { videoId }, body: { tags: [...tags, wanted] } });
      }
    } finally {
      onChanged();
    }
    tell(`Tag “${wanted}” added.`);
    onClose();
  });
  return (
    <FormDialog
      title={videos.length === 1 ? 'Add a tag' : `Add a tag to ${videos.length} videos`}
      action="Add the tag"
      disabled={wanted === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Tag"
        hint="A word or two by which videos are found together."
        value={tag}
        onValue={setTag}
        error={submission.errorOf('tags')}
        list="tags-known"
      />
      <datalist id="tags-known">
        {known.value?.data.map(({ value }) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </FormDialog>
  );
}
