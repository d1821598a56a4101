import { useState } from 'preact/hooks';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { type Destination, knownDestinations } from './restream-labels.ts';

type Known = (typeof knownDestinations)[number][0] | 'other';

export function RestreamDialog({
  restreams,
  position,
  save,
  onClose,
}: {
  restreams: readonly Destination[];
  position: number;
  save: (restreams: readonly Destination[]) => Promise<void>;
  onClose: () => void;
}) {
  const before = restreams[position];
  const [destination, setDestination] = useState<Destination>(
    before ?? { name: '', serverUrl: '', streamKey: '' },
  );
  const submission = useSubmit(async () => {
    const { name, serverUrl, streamKey } = destination;
    const changed = [...restreams];
    changed[position] = { name: name.trim(), serverUrl: serverUrl.trim(), streamKey: streamKey.trim() };
    await save(changed);
    onClose();
  });
  const change = (changes: Partial<Destination>) => setDestination({ ...destination, ...changes });
  const errorOf = (part: string) => submission.errorOf(`restreams[${position}][${part}]`);
  const known = knownDestinations.find(([, , serverUrl]) => serverUrl === destination.serverUrl);
  const isComplete = Object.values(destination).every(value => value.trim() !== '');
  return (
    <FormDialog
      title={before === undefined ? 'Add destination' : 'Edit destination'}
      action={before === undefined ? 'Add' : 'Save'}
      disabled={!isComplete}
      submission={submission}
      onClose={onClose}
    >
      <SelectField<Known>
        label="Service"
        value={known?.[0] ?? 'other'}
        onValue={id => {
          const chosen = knownDestinations.find(([one]) => one === id);
          if (chosen === undefined) return change({ serverUrl: '' });
          const [, name, serverUrl] = chosen;
          change({ serverUrl, ...(destination.name.trim() === '' ? { name } : {}) });
        }}
        options={[...knownDestinations.map(([id, words]) => [id, words] as const), ['other', 'Other']]}
      />
      <TextField
        label="Name"
        hint="Only you see it."
        value={destination.name}
        onValue={name => change({ name })}
        error={errorOf('name')}
        maxLength={2048}
        required
      />
      <TextField
        label="Server URL"
        hint="Such as rtmp://host/app or rtmps://host/app."
        value={destination.serverUrl}
        onValue={serverUrl => change({ serverUrl })}
        error={errorOf('serverUrl')}
        spellcheck={false}
        maxLength={2048}
        required
      />
      <TextField
        label="Stream key"
        type="password"
        hint="The stream key from that service."
        autocomplete="new-password"
        value={destination.streamKey}
        onValue={streamKey => change({ streamKey })}
        error={errorOf('streamKey')}
        maxLength={2048}
        required
      />
    </FormDialog>
  );
}
