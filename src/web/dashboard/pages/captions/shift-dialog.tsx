import { useState } from 'preact/hooks';
import { t } from '../../texts/video.ts';
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
      setError(t('shift.wrong'));
      return;
    }
    const shifted = shiftCues(file, sign === '' || sign === '+' ? ms : -ms);
    if (shifted === undefined) {
      setError(t('shift.tooEarly'));
      return;
    }
    onShifted(shifted);
    onClose();
  });
  return (
    <FormDialog title={t('shift.title')} action={t('shift.action')} submission={submission} onClose={onClose}>
      <TextField
        label={t('shift.offset')}
        hint={t('shift.hint')}
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
