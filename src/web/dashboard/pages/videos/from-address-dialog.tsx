import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { tell } from '../../ui/toast.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import { titleOfAddress } from './title-of-address.ts';

/** Has the server fetch a video from a web address. */
export function FromAddressDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [source, setSource] = useState('');
  const [title, setTitle] = useState('');
  const suggested = titleOfAddress(source);
  const submission = useSubmit(async () => {
    await call('POST /videos', { body: { title: title.trim() || suggested, source: source.trim() } });
    tell('The server fetches the video.');
    onMade();
    onClose();
  });
  return (
    <FormDialog
      title="Add a video from a web address"
      action="Add the video"
      disabled={source.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Address of the file"
        type="url"
        placeholder="https://"
        hint="Of a video file that can be downloaded without signing in."
        value={source}
        onValue={setSource}
        error={submission.errorOf('source')}
      />
      <TextField
        label="Title"
        placeholder={suggested}
        value={title}
        onValue={setTitle}
        error={submission.errorOf('title')}
      />
    </FormDialog>
  );
}
