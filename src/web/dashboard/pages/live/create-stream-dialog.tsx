import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { bodyOf, newStream, StreamFields } from './stream-fields.tsx';

export function CreateStreamDialog({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [choices, setChoices] = useState(newStream);
  const submission = useSubmit(async () => {
    const { liveStreamId } = await call('POST /live-streams', { body: bodyOf(choices) });
    route(`/dashboard/live/${liveStreamId}`);
  });
  return (
    <FormDialog
      title="New live stream"
      action="Create live stream"
      disabled={choices.name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <StreamFields choices={choices} onChoices={setChoices} submission={submission} />
      <p class="hint">Next, you’ll see what to enter in your encoder and where to add restreams.</p>
    </FormDialog>
  );
}
