import { useState } from 'preact/hooks';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { type CaptionFile, msOf } from './caption-file.ts';
import { shiftCues } from './cue-edits.ts';

export function ShiftDialog({
  file,
  onShifted,
  onClose,
}: {
  file: CaptionFile;
  onShifted: (file: CaptionFile) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const submission = useSubmit(async () => {
    const [, sign, time = ''] = /^\s*([-+−]?)(.*)$/.exec(typed) ?? [];
    const ms = msOf(time);
    if (Number.isNaN(ms)) {
      setError('Enter a time such as 1.5 or -0:02.');
      return;
    }
    const shifted = shiftCues(file, sign === '' || sign === '+' ? ms : -ms);
    if (shifted === undefined) {
      setError('A cue would start before 0:00. Enter a smaller offset.');
      return;
    }
    onShifted(shifted);
    onClose();
  });
  return (
    <FormDialog title="Shift all cues" action="Shift" submission={submission} onClose={onClose}>
      <TextField
        label="Offset in seconds"
        hint="A negative offset shows the captions earlier."
        placeholder="1.5"
        value={typed}
        onValue={value => {
          setError(undefined);
          setTyped(value);
        }}
        error={error}
      />
    </FormDialog>
  );
}
